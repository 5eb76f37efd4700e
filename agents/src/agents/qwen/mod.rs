//! Alibaba's Qwen Code: the stream of `qwen -o stream-json`, `-o json`, and its session files.
//!
//! The stream resembles that of Claude Code. The session files and the tools are those of Gemini CLI, from which it was
//! forked.

mod result;
mod session;
mod stream;
mod usage;

pub use self::{session::QwenSession, stream::Qwen};
