//! [`RowDetail`]: what the list says below a title.

/// What the list says below a title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowDetail {
    /// The page of the session or part with an entry that was found, the entry, and the text around the words, which are
    /// marked by `true`.
    Found(String, i64, Vec<(String, bool)>, Hits),
    /// What the session asks a person.
    Asks(String),
    /// What it does, or why it ended.
    Says(String),
}

/// How many entries of a session were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hits {
    pub(super) count: usize,
    /// Whether there are no others.
    pub(super) are_all: bool,
}
