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
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use foldline::source::{Opener, StoredLog};
use foldline_agents::{
    prelude::*,
    sqlite::{self, rusqlite::Connection},
};
use foldline_cli::Program;
use serde_json::Value;

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
        sqlite::open(path, head, |database| database.prepare(ROWS).is_ok(), write)
    }
}

/// New rows are new lines at the end, so that they are followed.
const ROWS: &str = "SELECT session AS magpie, at, role, text FROM messages ORDER BY rowid";

/// The rows as lines.
fn write(database: &Connection, out: &mut dyn Write) -> io::Result<()> {
    sqlite::for_each(database, ROWS, [], |fields| writeln!(out, "{}", Value::Object(fields)))
}

/// The program with the agent.
pub(crate) fn program() -> Program {
    Program::builtin().executor(Magpie)
}

fn main() -> ExitCode {
    program().run()
}
