//! [`Fragment`]: what an event changes in a page.

use serde::Serialize;

use crate::conversation::EntryIdx;

/// What an event changes in a page that shows the session.
///
/// Everything in `html` is safe to be put into a page: text of the log is escaped and neutralised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fragment {
    /// Which entry it is. The entry's element has the id `e` and this number.
    pub index: EntryIdx,
    /// What is to be done with it.
    pub place: Place,
    /// The call that the entry belongs into: a sub-agent's entries are shown within the call that started it.
    pub parent: Option<EntryIdx>,
    /// The HTML: one `<article class="entry">`, or for [`Place::Grow`] escaped text.
    pub html: String,
    /// Where the entry goes on, as an offset in `html` in bytes: for an open entry, where text is added by
    /// [`Place::Grow`] (within the element of class `grows`); for a call, where a `.feed` with the entries
    /// of its sub-agent stands (before the `.answer`, or else at the end of its `.body`).
    pub inside: Option<usize>,
}

/// What is to be done with a [`Fragment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Place {
    /// It is a new entry: put it behind the last one of its parent, or of the page.
    Append,
    /// It replaces the entry. Entries of a sub-agent that stand within the old one move into it.
    Replace,
    /// It is text that is added to the open entry.
    Grow,
}
