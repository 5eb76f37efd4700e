//! The whole program for an agent of another crate that keeps its sessions in a database.
//!
//! The invented agent has one SQLite database with the table `messages (session, at, role, text)`. Its opener reads the
//! rows as lines; its executor reads the lines.
//!
//! ```sh
//! cargo run --example own_database -- replay cli/examples/magpie.db
//! ```

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use foldline::{
    ledger::Identity,
    source::{Opener, StoredLog},
};
use foldline_agents::{prelude::*, sqlite};
use foldline_cli::Program;
use serde_json::json;

/// The invented agent.
struct Magpie;

impl Executor for Magpie {
    const FORMAT: Format = Format::new("magpie", "Magpie, an invented agent", "magpie")
        .with_homes(&["~/.magpie/sessions.db"]);
    type Line<'a> = (NormalizedEntryType, Text);
    type Result = ToolOutcome;
    type Memory = ();

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        vec![Arc::new(Self)]
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(object.has("magpie"))
    }

    /// The sessions of the database are separate.
    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str("magpie")
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<Self::Line<'a>> {
        header.at = object.timestamp("at").or(header.at);
        let kind = match object.get_str("role").as_deref() {
            Some("user") => NormalizedEntryType::UserMessage,
            Some("agent") => NormalizedEntryType::AssistantMessage,
            _ => return Parsed::Unknown,
        };
        object.ignore(&["magpie", "role"]);
        Parsed::Line((kind, object.text("text").unwrap_or_default()))
    }

    fn line(
        &self,
        (kind, text): Self::Line<'_>,
        extra: Extra,
        (): &mut (),
        cx: &mut Context<'_, ToolOutcome>,
    ) {
        cx.entry(kind, text, extra);
    }
}

impl Opener for Magpie {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        let connection = head.starts_with(sqlite::MAGIC).then(|| sqlite::connect(path))?.ok()?;
        let sql = "SELECT session, at, role, text FROM messages";
        connection.prepare(sql).is_ok().then(|| Box::new(Messages(path.to_owned())) as _)
    }
}

/// The messages in the database at this path.
#[derive(Debug)]
struct Messages(PathBuf);

impl StoredLog for Messages {
    fn status(&self, file: Identity) -> io::Result<Identity> {
        Ok(sqlite::status(&self.0, file))
    }

    fn write(&self, _: &File, out: &mut dyn Write) -> io::Result<()> {
        let read = || {
            let connection = sqlite::connect(&self.0)?;
            let sql = "SELECT session, at, role, text FROM messages ORDER BY rowid";
            let mut messages = connection.prepare(sql)?;
            let rows = messages.query_map([], |row| {
                let (session, at): (String, i64) = (row.get(0)?, row.get(1)?);
                let (role, text): (String, String) = (row.get(2)?, row.get(3)?);
                Ok(json!({"magpie": session, "at": at, "role": role, "text": text}))
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(io::Error::other)?.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

/// The program with the agent.
pub(crate) fn program() -> Program {
    Program::builtin().executor(Magpie)
}

fn main() -> ExitCode {
    program().run()
}
