//! Messages of content blocks in the form of Anthropic's API, which Claude Code, Droid's session files and Amp use.

mod content;
mod denial;
mod error;
mod messages;
mod partial;
pub mod usage;

pub use self::{
    content::{Block, BlockKind, Message, ToolResult, ToolUse},
    denial::Denial,
    error::error_message,
    messages::{Reader, read},
    partial::PartialEvent,
};
