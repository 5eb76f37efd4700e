//! Generators of the logs of three agents, for the laws.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod droid;
