//! Shared by human-readable outputs: text that is safe in a terminal, colours, numbers, names of calls.

pub(super) mod address;
pub(super) mod call_text;
pub(super) mod changes;
pub mod human;
pub mod printed;
pub(super) mod sgr;
pub mod terminal;
