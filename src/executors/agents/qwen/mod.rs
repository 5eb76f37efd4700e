//! Alibaba's Qwen Code: the stream of `qwen -o stream-json`, `-o json`, and its session files.
//!
//! The stream is in the manner of Claude Code's. The session files and the tools are those of Gemini CLI,
//! which it descends from.

mod result;
mod session;
mod stream;
mod usage;

pub use self::{session::QwenSession, stream::Qwen};
