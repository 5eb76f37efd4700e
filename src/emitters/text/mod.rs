//! Shared by human-readable outputs: text that is safe in a terminal, colours, numbers, names of calls.

#[cfg(any(feature = "html", feature = "markdown"))]
pub(super) mod address;
pub(super) mod call_text;
#[cfg(any(feature = "transcript", feature = "html"))]
pub(super) mod changes;
pub mod human;
pub mod printed;
pub(super) mod sgr;
pub mod terminal;
