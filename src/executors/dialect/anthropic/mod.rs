//! Messages of content blocks, as Anthropic's interface has them: Claude Code, Droid's session files and
//! Amp write them into their logs.

mod content;
mod messages;
pub(crate) mod usage;

pub(crate) use self::{
    content::{Block, BlockKind, Message, ToolResult, ToolUse},
    messages::{Reader, read},
};
