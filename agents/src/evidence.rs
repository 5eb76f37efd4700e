//! [`Evidence`]: the certainty that a record belongs to a format.

use foldline_json::Raw;

use super::wire::{Object, value};

/// The certainty that a record belongs to a format.
///
/// There is no evidence *against* a format: an absent field proves too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The record is no evidence.
    None,
    /// Logs of this format have such records; other formats may have them, too.
    Possible,
    /// Only logs of this format have such records.
    Certain,
}

impl Evidence {
    /// [`Certain`](Self::Certain), or [`None`](Self::None).
    pub fn certain_if(is_certain: bool) -> Self {
        if is_certain { Self::Certain } else { Self::None }
    }

    /// [`Possible`](Self::Possible), or [`None`](Self::None).
    pub fn possible_if(is_possible: bool) -> Self {
        if is_possible { Self::Possible } else { Self::None }
    }
}

/// Judges a record for a format. Takes nothing from the record.
pub type Judge = fn(&Object<'_>) -> Evidence;

/// The object in a field, without taking it.
pub(super) fn nested<'a>(object: &Object<'a>, field: &str) -> Option<Object<'a>> {
    value::object(object.get(field)?)
}

/// Whether all of these fields are strings.
pub(super) fn all_strings(object: &Object<'_>, fields: &[&str]) -> bool {
    fields.iter().all(|field| object.get(field).is_some_and(Raw::is_string))
}

/// Whether the record comes from a session file with a tree of messages.
pub(super) fn is_tree_record(object: &Object<'_>) -> bool {
    object.has("parentUuid")
        || (object.has("sessionId") && (object.has("uuid") || object.has("message")))
}

/// The message of a `user` or `assistant` record in the format of Claude Code's stream.
pub(super) fn message<'a>(object: &Object<'a>) -> Option<Object<'a>> {
    if is_tree_record(object) {
        return None;
    }
    nested(object, "message").filter(|message| message.has("content"))
}
