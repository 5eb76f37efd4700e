//! [`Format`]: what a log format is called.

use std::fmt;

/// What a log format is called, and where people have such logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Format {
    /// The name that the program takes and prints: `claude-stream`.
    pub name: &'static str,
    /// What the format is, for people: `Claude Code, stream-json`.
    pub title: &'static str,
    /// How the session's facts name the agent: `claude`.
    pub agent: &'static str,
    /// The folders that such logs are in; empty for a stream that nobody stores by default. As in a shell,
    /// `~` at the beginning is the home directory, and `${NAME:-FOLDER}` is the variable of the environment, or
    /// the folder if it is not set. A variable may name several folders, separated by commas.
    pub homes: &'static [&'static str],
}

/// The name.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}
