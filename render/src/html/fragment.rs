//! [`Fragment`]: the change of a page caused by an event; [`Setting`]: the context of rendering an entry.

use foldline_domain::EntryIdx;
use serde::Serialize;

use super::time::Clock;

/// The change of a page caused by an event.
///
/// `html` is safe to insert into a page: text of the log is escaped and neutralised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fragment {
    /// The index of the entry. The entry's element has the id `e` followed by this number.
    pub index: EntryIdx,
    /// The operation.
    pub place: Place,
    /// The enclosing call: a sub-agent's entries are shown within the call that started it.
    pub parent: Option<EntryIdx>,
    /// The HTML: one `<article class="entry">`, or for [`Place::Grow`] escaped text.
    pub html: String,
    /// The insertion point within the entry, as a byte offset in `html`: for an open entry, where [`Place::Grow`]
    /// appends text (within the element of class `grows`); for a call, where a `.feed` with the entries of its
    /// sub-agent belongs (before the `.answer`, or else at the end of its `.body`).
    pub inside: Option<usize>,
}

/// The operation of a [`Fragment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A new entry: insert it after the last one of its parent, or of the page.
    Append,
    /// Replaces the entry. Entries of a sub-agent within the old element move into the new one.
    Replace,
    /// Text to append to the open entry.
    Grow,
}

/// Properties of the page.
#[derive(Clone, Debug, Default)]
pub(super) struct Medium {
    /// Whether a server answers questions about the entries, and has their pictures.
    pub(super) is_served: bool,
    pub(super) clock: Clock,
}

/// Properties of an entry that depend on its context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'m> {
    pub(super) medium: &'m Medium,
    /// Its number, if it is a prompt by a person.
    pub(super) turn: Option<u64>,
    /// Whether it is a part of a sub-agent's work.
    pub(super) is_within: bool,
    /// Whether it divides the conversation.
    pub(super) is_divider: bool,
    /// Whether the entry before it is of an earlier day.
    pub(super) is_new_day: bool,
    /// Whether it still grows.
    pub(super) is_open: bool,
    /// Whether it was made in parallel with the calls before and after it.
    pub(super) with_last: bool,
    pub(super) with_next: bool,
    /// The number of entries of its sub-agent, and how many of them failed.
    pub(super) entries: u64,
    pub(super) bad: u64,
}

impl<'m> Setting<'m> {
    /// The setting of an entry alone, or as a part of a sub-agent's work.
    pub(super) fn new(medium: &'m Medium, is_within: bool) -> Self {
        Self {
            medium,
            turn: None,
            is_within,
            is_divider: false,
            is_new_day: false,
            is_open: false,
            with_last: false,
            with_next: false,
            entries: 0,
            bad: 0,
        }
    }
}

/// The HTML of an entry, and its insertion point.
pub(super) struct Rendered {
    pub(super) html: String,
    pub(super) inside: Option<usize>,
}
