//! Strategies for Claude Code's logs: its [`stream`] and its [`session`] files.

mod blocks;
pub mod session;
pub mod stream;
mod tools;

pub use self::tools::tool;
