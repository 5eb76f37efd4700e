//! [`Executor`]: the code for one log format. [`ExecutorReducer`](super::reducing::ExecutorReducer) does the rest.
//! [`Format`]: the name of a log format and the folders of its logs.
//!
//! These rules are the same for all formats:
//!
//! - **Objects without a type.** A record with an empty [`Header::name`] that is not a [`Line`](Parsed::Line) is kept
//!   whole, with a warning of the kind `unexpected_value`.
//! - **Unknown and foreign records** are kept as they are, with their `type`. Only a readable timestamp is removed,
//!   which becomes the time of the entry. Such a record loses the fields that `parse` took, so `parse` must decide
//!   before it takes fields.
//! - **Unreadable timestamps** stay in the record and are reported as an unknown field.
//! - **Empty usage**, without any number, is not an event. A stated zero is one.

use std::{
    borrow::Cow,
    fmt::{self, Debug},
    path::Path,
    sync::Arc,
};

use foldline::source::Opener;
use foldline_domain::{CorrId, Timestamp, tool_calls::CallResult};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    context::{Context, Extra},
    recogniser::Evidence,
    wire::Object,
};

/// The fields that records of every type have.
#[derive(Clone, Debug, Default)]
pub struct Header<'a> {
    /// Its type as named in warnings: `message`, `system/init`. The initial value is the field `type`.
    pub name: Cow<'a, str>,
    /// Its time. The initial value is the field `timestamp`, which is taken if it is readable. An executor whose
    /// records use another field keeps this one as a fallback: `header.at = object.timestamp("at").or(header.at)`.
    pub at: Option<Timestamp>,
    /// The call whose sub-agent wrote it.
    pub parent: Option<CorrId>,
}

/// The outcome of parsing a record. [`ExecutorReducer`](super::ExecutorReducer) reports the fields that were not taken.
#[derive(Clone, Debug)]
pub enum Parsed<L> {
    /// A record with content.
    Line(L),
    /// A known record without content.
    Ignored,
    /// A record of another format.
    Foreign,
    /// A record of an unknown type.
    Unknown,
}

impl<L> Parsed<L> {
    /// Converts the line.
    pub fn map<M>(self, f: impl FnOnce(L) -> M) -> Parsed<M> {
        match self {
            Self::Line(line) => Parsed::Line(f(line)),
            Self::Ignored => Parsed::Ignored,
            Self::Foreign => Parsed::Foreign,
            Self::Unknown => Parsed::Unknown,
        }
    }
}

/// Reads the text of a file beside a log, if it is there.
pub type Beside<'b> = &'b dyn Fn(&Path) -> Option<String>;

/// One log format of an agent: parses records and emits their events.
pub trait Executor: Sized + Send + Sync + 'static {
    /// The format.
    const FORMAT: Format;
    /// A parsed record.
    type Line<'a>;
    /// The result of a tool call.
    type Result: CallResult
        + Clone
        + Debug
        + PartialEq
        + Serialize
        + DeserializeOwned
        + Send
        + 'static;
    /// The state between records, in addition to calls and the facts of the session.
    type Memory: Default + Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static;

    /// The executor for the file at this path, if the path, or a file beside it, states facts that the file does not.
    ///
    /// `beside` reads the text of another file, and gives `None` if it cannot: reading is up to the caller.
    fn of_file(&self, _path: &Path, _beside: Beside<'_>) -> Option<Self> {
        None
    }

    /// How logs of this agent are opened that are not files of lines: a database, a folder, a document.
    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        Vec::new()
    }

    /// Judges whether a record belongs to this format.
    fn recognise(&self, object: &Object<'_>) -> Evidence;

    /// The session of a record, for streams that interleave sessions. Sub-agents that share their session's memory
    /// share its id. Takes nothing.
    ///
    /// [`Sessions`](super::Sessions) keeps a separate state for each; the program wraps every executor in it. With
    /// [`ExecutorReducer`](super::ExecutorReducer) alone, interleaved sessions share their calls.
    fn session<'a>(&self, _object: &Object<'a>) -> Option<Cow<'a, str>> {
        None
    }

    /// Parses a record: takes the known fields from the object and leaves the rest.
    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>)
    -> Parsed<Self::Line<'a>>;

    /// Emits the events of a record. `extra` are the fields that were not taken; they have been reported.
    fn line(
        &self,
        line: Self::Line<'_>,
        extra: Extra,
        memory: &mut Self::Memory,
        cx: &mut Context<'_, Self::Result>,
    );

    /// Whether nothing of a line is shown on purpose: bookkeeping of the agent that is read nevertheless, since it states
    /// facts of the session or changes the memory. Other bookkeeping is [`Parsed::Ignored`]. Changes no event.
    fn is_ignored(&self, _line: &Self::Line<'_>) -> bool {
        false
    }

    /// Ends the session: the log ended or another session begins in it. [`ExecutorReducer`](super::ExecutorReducer) ends open calls.
    fn end(&self, _memory: &mut Self::Memory, _cx: &mut Context<'_, Self::Result>) {}
}

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
    /// default. A variable may name several folders, separated by commas. A `*` in one name matches any text. Of
    /// alternatives, separated by ` || `, the first one that exists has the logs.
    pub homes: &'static [&'static str],
    /// Folders in which the agent keeps sessions in a form that no executor reads yet, in the same form: said to the
    /// person, who else would take an answer for complete.
    pub unread: &'static [&'static str],
    /// The ending of a file that states more about the session of a log, and has its name otherwise:
    /// `.settings.json`.
    pub companion: Option<&'static str>,
    /// The newest version of the agent whose logs were tested. `None` where the logs state no version, as those of
    /// Antigravity, Cline, Cursor, Goose, Grok, Hermes and Zed: then no version is reported as newer.
    pub tested: Option<&'static str>,
    /// The names of files in these folders that look like logs, and hold no session: `logs.json`.
    pub no_logs: &'static [&'static str],
}

impl Format {
    /// A format by its name, title and agent, without folders of logs.
    #[must_use]
    pub const fn new(name: &'static str, title: &'static str, agent: &'static str) -> Self {
        Self {
            name,
            title,
            agent,
            homes: &[],
            unread: &[],
            companion: None,
            tested: None,
            no_logs: &[],
        }
    }

    /// The format with the folders of its logs.
    #[must_use]
    pub const fn with_homes(self, homes: &'static [&'static str]) -> Self {
        Self { homes, ..self }
    }

    /// The format with folders of sessions that are not read yet.
    #[must_use]
    pub const fn with_unread(self, unread: &'static [&'static str]) -> Self {
        Self { unread, ..self }
    }

    /// The format with the newest version of the agent that was tested.
    #[must_use]
    pub const fn with_tested(self, version: &'static str) -> Self {
        Self { tested: Some(version), ..self }
    }

    /// Whether a version of the agent is newer than the newest that was tested, by the numbers in both.
    pub fn is_newer(&self, version: &str) -> bool {
        let numbers = |version: &str| -> Vec<u64> {
            let parts = version.split(|c: char| !c.is_ascii_digit());
            parts.filter_map(|part| part.parse().ok()).collect()
        };
        self.tested.is_some_and(|tested| numbers(version) > numbers(tested))
    }

    /// The format with the names of files that are no logs.
    #[must_use]
    pub const fn with_no_logs(self, no_logs: &'static [&'static str]) -> Self {
        Self { no_logs, ..self }
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
