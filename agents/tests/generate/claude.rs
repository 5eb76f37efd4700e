//! Strategies for Claude Code's logs: its [`stream`] and its [`session`] files.

mod blocks;
pub(crate) mod session;
pub(crate) mod stream;
mod tools;
