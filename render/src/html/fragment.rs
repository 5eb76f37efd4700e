//! [`Fragment`]: the change of a page caused by an event.

use foldline_domain::EntryIdx;
use serde::Serialize;

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
