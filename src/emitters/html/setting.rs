//! What an entry is rendered with, and to.

use super::seam::Seam;

/// What an entry does not say of itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Setting {
    /// Its number, if it is a prompt of a person.
    pub(super) turn: Option<u64>,
    /// Whether it is a part of a sub-agent's work.
    pub(super) is_within: bool,
    /// Whether it is a seam of the conversation.
    pub(super) seam: Option<Seam>,
    /// Whether it still grows.
    pub(super) is_open: bool,
    /// Whether it was made at once with the calls before and behind it.
    pub(super) with_last: bool,
    pub(super) with_next: bool,
    /// The entries of its sub-agent, and how many of them went wrong.
    pub(super) entries: u64,
    pub(super) bad: u64,
}

/// The HTML of an entry, and where it goes on.
pub(super) struct Rendered {
    pub(super) html: String,
    pub(super) inside: Option<usize>,
}
