//! `foldline resume`: resumes a session with the command of its agent.

use std::{
    io::{self, Write},
    path::Path,
    process::Command,
};

use clap::Args;
use foldline_database::{Store, query::SessionRow};
#[cfg(feature = "serve")]
use foldline_domain::{Session, Text};
use foldline_render::terminal::neutralise_line;

use crate::{
    answer::{DatabaseArgs, Filters, find},
    error::Error,
    exit,
    program::Program,
};

/// The options of `foldline resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Session: latest, latest~2, an id or its first characters, a number, or a part of a title
    #[arg(default_value = "latest")]
    session: String,

    /// Print the command for a shell instead of running it
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    filters: Filters,
}

/// Agents, and the command that resumes a session; the id follows.
const COMMANDS: [(&str, &str); 7] = [
    ("claude-code", "claude --resume"),
    ("codex", "codex resume"),
    ("droid", "droid --resume"),
    ("cursor", "cursor-agent --resume"),
    ("opencode", "opencode --session"),
    ("copilot", "copilot --resume"),
    ("amp", "amp threads continue"),
];

/// `foldline resume`.
pub(crate) fn run(program: &Program, args: &ResumeArgs) -> Result<u8, Error> {
    let database = args.database.open(program)?;
    args.filters.check_agent(program, Some(&*database))?;
    let number = find::session(&*database, &args.session, &args.filters)?;
    let resumption = resumption(&*database, number)?;
    database.confirm()?;
    drop(database);
    if args.print {
        let line = resumption.line();
        writeln!(io::stdout(), "{}", neutralise_line(&line)).map_err(Error::Output)?;
        return Ok(exit::SUCCESS);
    }
    resumption.run()
}

/// Resumes the session with this number.
pub(crate) fn stored(database: Box<dyn Store>, number: i64) -> Result<u8, Error> {
    let resumption = resumption(&*database, number)?;
    drop(database);
    resumption.run()
}

/// The command that resumes the session with this number. A sub-agent is a part of the session that called it.
fn resumption(database: &dyn Store, number: i64) -> Result<Resumption, Error> {
    let tree = database.tree_of(number)?;
    let row = |number: i64| tree.iter().find(|row| row.number == number);
    let is_agent = |row: &SessionRow| row.relation.as_deref() == Some("sub_agent");
    let mut session = row(number).ok_or(Error::NoSession)?;
    // A session is a part of another one only once in a tree.
    while let Some(whole) = session.whole.filter(|_| is_agent(session)).and_then(row) {
        session = whole;
    }
    // The session that called it may be in no log.
    let caller = session.parent.as_ref().filter(|_| is_agent(session));
    let agent = session.agent.as_deref().unwrap_or_default();
    let id = caller.or(session.session.as_ref()).map(String::as_str);
    let Some(id) = id else {
        return Err(Error::WrongUse("the log of the session states no id to resume it by".into()));
    };
    Resumption::new(agent, id, session.cwd.as_deref()).ok_or_else(|| {
        let known = COMMANDS.map(|(agent, _)| agent).join(", ");
        let agent = if agent.is_empty() { "the agent" } else { agent };
        Error::WrongUse(format!(
            "no command of {} resumes a session (known: {known})",
            neutralise_line(agent)
        ))
    })
}

/// The command for a shell, in the session's folder; `None` if the agent has none, or the id is unknown.
#[cfg(feature = "serve")]
pub(crate) fn line(session: &Session) -> Option<String> {
    let agent = session.agent.as_ref()?.decode();
    let folder = session.cwd.as_ref().map(Text::decode);
    let id = session.session_id.as_ref()?.as_str();
    Some(Resumption::new(&agent, id, folder.as_deref())?.line())
}

/// The same of a stored session.
#[cfg(feature = "serve")]
pub(crate) fn line_of(row: &SessionRow) -> Option<String> {
    let (agent, id) = (row.agent.as_deref()?, row.session.as_deref()?);
    Some(Resumption::new(agent, id, row.cwd.as_deref())?.line())
}

/// A command that resumes a session.
#[derive(Debug)]
struct Resumption {
    /// The program and its first arguments.
    command: &'static str,
    /// The last argument.
    id: String,
    folder: Option<String>,
}

impl Resumption {
    fn new(agent: &str, id: &str, folder: Option<&str>) -> Option<Self> {
        let (_, command) = COMMANDS.into_iter().find(|(name, _)| *name == agent)?;
        // Of some sessions only the name of the folder is known.
        let folder = folder.filter(|folder| folder.contains(['/', '\\'])).map(str::to_owned);
        Some(Self { command, id: argument(id), folder })
    }

    /// The command for a shell.
    fn line(&self) -> String {
        let resume = format!("{} {}", self.command, quoted(&self.id));
        match &self.folder {
            Some(folder) => format!("cd {} && {resume}", quoted(&argument(folder))),
            None => resume,
        }
    }

    /// Runs it in place of this process, or else returns its exit code.
    fn run(self) -> Result<u8, Error> {
        let mut words = self.command.split(' ');
        let program = words.next().unwrap_or_default();
        let mut command = Command::new(program);
        command.args(words).arg(&self.id);
        if let Some(folder) = &self.folder {
            if !Path::new(folder).is_dir() {
                return Err(Error::NoFolder(folder.into()));
            }
            command.current_dir(folder);
        }
        replaced_by(&mut command)
            .map_err(|error| Error::Start { command: program.to_owned(), error })
    }
}

#[cfg(unix)]
fn replaced_by(command: &mut Command) -> std::io::Result<u8> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn replaced_by(command: &mut Command) -> std::io::Result<u8> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(exit::FAILED))
}

/// A text as an argument, which begins no option and ends no line. A log can contain any text.
fn argument(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    if text.starts_with('-') { format!("./{text}") } else { text }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match !word.is_empty() && !word.starts_with("./-") && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_resumed_in_its_folder() {
        let session = |agent: &str, id: &str, cwd: Option<&str>| {
            Resumption::new(agent, id, cwd).map(|resumption| resumption.line())
        };
        let resumed = session("claude-code", "0f-1", Some("/srv/ada's x"));
        assert_eq!(resumed.as_deref(), Some(r"cd '/srv/ada'\''s x' && claude --resume 0f-1"));
        assert_eq!(session("codex", "a", None).as_deref(), Some("codex resume a"));
        assert_eq!(session("codex", "$(rm x)\n", None).as_deref(), Some("codex resume '$(rm x)'"));
        assert_eq!(session("codex", "--all", None).as_deref(), Some("codex resume './--all'"));
        assert_eq!(session("codex", "\n--all", None).as_deref(), Some("codex resume './--all'"));
        assert_eq!(session("gemini", "a", None), None);
    }
}
