//! The context of rendering an entry, and the result.

use super::time::Clock;

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
