//! [`Executor`]: what the author of an agent writes. The rest is [`Reducing`](super::reducing::Reducing).
//!
//! What all formats have in common is decided in one place, the same for each:
//!
//! - **Objects without a type.** A record whose [`Header::name`] is empty, and that is no
//!   [`Line`](Parsed::Line), is kept whole, with a warning of the kind `unexpected_value`.
//! - **Unknown and foreign records** are kept as they are, `type` among their fields. Only a timestamp
//!   that was read is taken out: it is the entry's. Whatever `parse` took is lost to such a record, so
//!   `parse` decides first, and takes then.
//! - **Timestamps that cannot be read** stay in the record, and are reported as an unknown field.
//! - **Zero usage** is no event: a log that states that no tokens were used says nothing.

use std::{borrow::Cow, fmt::Debug};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    context::{Context, Extra},
    evidence::Evidence,
    format::Format,
    wire::Object,
};
use crate::conversation::{CorrId, Timestamp, tool_calls::CallResult};

/// What every record says of itself, whatever it means.
#[derive(Clone, Debug, Default)]
pub struct Header<'a> {
    /// Its type, as warnings name it: `message`, `system/init`. Begins as the field `type`.
    pub name: Cow<'a, str>,
    /// When it was written. Begins as the field `timestamp`, which is taken if it can be read: an executor whose
    /// records have another field for it keeps this for those that do not,
    /// `header.at = object.timestamp("at").or(header.at)`.
    pub at: Option<Timestamp>,
    /// The call whose sub-agent it comes from.
    pub parent: Option<CorrId>,
}

/// What an executor made of a record. What it left of the object's fields is for the shell to report.
#[derive(Clone, Debug)]
pub enum Parsed<L> {
    /// A record that says something.
    Line(L),
    /// A record that is known, and says nothing.
    Ignored,
    /// A record of another format.
    Foreign,
    /// A record of a type that nobody knows.
    Unknown,
}

impl<L> Parsed<L> {
    /// The same with another type of line.
    pub fn map<M>(self, f: impl FnOnce(L) -> M) -> Parsed<M> {
        match self {
            Self::Line(line) => Parsed::Line(f(line)),
            Self::Ignored => Parsed::Ignored,
            Self::Foreign => Parsed::Foreign,
            Self::Unknown => Parsed::Unknown,
        }
    }
}

/// One log format of an agent: how a record reads, and what it means.
pub trait Executor: Sized + Send + Sync + 'static {
    /// What the format is called.
    const FORMAT: Format;
    /// A record, read.
    type Line<'a>;
    /// What a tool gave back.
    type Result: CallResult
        + Clone
        + Debug
        + PartialEq
        + Serialize
        + DeserializeOwned
        + Send
        + 'static;
    /// What is remembered from one record to the next, beside calls and the session's facts.
    type Memory: Default + Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static;

    /// The executor for a file of this name (without its folder), if that says something of the session that
    /// the file does not.
    fn of_file(&self, _name: &str) -> Option<Self> {
        None
    }

    /// How surely a record belongs to this format.
    fn recognise(&self, object: &Object<'_>) -> Evidence;

    /// The session that a record belongs to, where one stream may carry several: sub-agents that share
    /// their session's memory share its id. Takes nothing.
    ///
    /// Their states are kept apart by [`Sessions`](super::Sessions), in which the program wraps every executor. With
    /// [`Reducing`](super::Reducing) alone, sessions that are interleaved share their calls.
    fn session<'a>(&self, _object: &Object<'a>) -> Option<Cow<'a, str>> {
        None
    }

    /// Reads a record: takes what it knows from the object, and leaves the rest.
    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>)
    -> Parsed<Self::Line<'a>>;

    /// Says what a record means. `extra` are the fields that nobody took; they have been reported.
    fn line(
        &self,
        line: Self::Line<'_>,
        extra: Extra,
        memory: &mut Self::Memory,
        cx: &mut Context<'_, Self::Result>,
    );

    /// The session is over: the log ended, or another session begins in it. Open calls are the
    /// shell's to end.
    fn end(&self, _memory: &mut Self::Memory, _cx: &mut Context<'_, Self::Result>) {}
}
