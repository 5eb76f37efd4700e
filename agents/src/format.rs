//! [`Format`]: the name of a log format and the folders of its logs.

use std::fmt;

/// The name of a log format and the folders of its logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Format {
    /// The name in arguments and output of the program: `claude-stream`.
    pub name: &'static str,
    /// The human-readable title: `Claude Code, stream-json`.
    pub title: &'static str,
    /// The name of the agent in the facts of a session: `claude`.
    pub agent: &'static str,
    /// The folders of such logs, or a database that contains them; empty for a stream that is not stored by default. As
    /// in a shell, a leading `~` is the home directory, and `${NAME:-FOLDER}` is an environment variable with a
    /// default. A variable may name several folders, separated by commas. Of alternatives, separated by ` || `, the
    /// first one that exists has the logs.
    pub homes: &'static [&'static str],
    /// The ending of a file that states more about the session of a log, and has its name otherwise:
    /// `.settings.json`.
    pub companion: Option<&'static str>,
}

impl Format {
    /// A format by its name, title and agent, without folders of logs.
    #[must_use]
    pub const fn new(name: &'static str, title: &'static str, agent: &'static str) -> Self {
        Self { name, title, agent, homes: &[], companion: None }
    }

    /// The format with the folders of its logs.
    #[must_use]
    pub const fn with_homes(self, homes: &'static [&'static str]) -> Self {
        Self { homes, ..self }
    }

    /// The format with the ending of the companion file of each log.
    #[must_use]
    pub const fn with_companion(self, ending: &'static str) -> Self {
        Self { companion: Some(ending), ..self }
    }
}

/// The name.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}
