//! Strategies for Codex's logs: the stream of [`exec`] and its [`rollout`] files.

pub(crate) mod exec;
pub(crate) mod rollout;
mod tools;
