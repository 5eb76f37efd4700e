//! Session files: `~/.claude/projects/<project>/<session>.jsonl`.

mod attachment;
mod progress;
mod recognise;
mod reducer;
mod types;

pub use self::{
    attachment::Attachment,
    progress::{AgentMessage, Progress},
    reducer::{ClaudeSession, ClaudeSessionMemory},
    types::{Author, ClaudeSessionJson, ClaudeSessionLine, Notice},
};
