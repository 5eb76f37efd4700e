//! Messages of content blocks, as Anthropic's interface has them: Claude Code, Droid's session files and
//! Amp write them into their logs.

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
