//! The context of rendering an entry, and the result.

use super::seam::Seam;

/// Properties of an entry that depend on its context.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Setting {
    /// Its number, if it is a prompt by a person.
    pub(super) turn: Option<u64>,
    /// Whether it is a part of a sub-agent's work.
    pub(super) is_within: bool,
    /// The seam of the conversation that it is, if any.
    pub(super) seam: Option<Seam>,
    /// Whether a server has its pictures.
    pub(super) is_served: bool,
    /// Whether it still grows.
    pub(super) is_open: bool,
    /// Whether it was made in parallel with the calls before and after it.
    pub(super) with_last: bool,
    pub(super) with_next: bool,
    /// The number of entries of its sub-agent, and how many of them failed.
    pub(super) entries: u64,
    pub(super) bad: u64,
}

/// The HTML of an entry, and its insertion point.
pub(super) struct Rendered {
    pub(super) html: String,
    pub(super) inside: Option<usize>,
}
