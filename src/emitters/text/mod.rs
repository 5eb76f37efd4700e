//! What consumers that print share: text that is harmless in a terminal, colours, numbers for people, words for calls.

#[cfg(any(feature = "html", feature = "markdown"))]
pub(super) mod address;
pub(super) mod call_text;
#[cfg(any(feature = "transcript", feature = "html"))]
pub(super) mod changes;
pub mod human;
pub(super) mod sgr;
pub mod terminal;
