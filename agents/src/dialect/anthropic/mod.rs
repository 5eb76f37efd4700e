//! Messages of content blocks in the form of Anthropic's API, which Claude Code, Droid's session files and Amp use.

mod content;
mod messages;
mod partial;

pub use self::{
    content::{Block, BlockKind, Message, ToolResult, ToolUse, take_usage},
    messages::{Denial, Reader, error_message, read},
    partial::PartialEvent,
};
