//! Shared by human-readable outputs: text that is safe in a terminal, colours, numbers, names of calls.

pub(super) mod call_fields;
pub(super) mod call_text;
pub mod human;
pub mod printed;
pub mod terminal;

pub use self::call_fields::is_unconfined;
