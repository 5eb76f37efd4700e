//! Anthropic's Claude Code: the stream of `claude -p --output-format stream-json`, and session files.

mod action_mapper;
mod markup;
mod messages;
mod notice;
mod result;
pub mod session;
pub mod stream;
mod usage;

pub use self::{session::ClaudeSession, stream::ClaudeStream};
