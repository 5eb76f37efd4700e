//! Strategies for Codex's logs: the stream of [`exec`] and its [`rollout`] files.

pub mod exec;
pub mod rollout;
mod tools;
