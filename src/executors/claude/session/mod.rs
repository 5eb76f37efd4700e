//! Session files: `~/.claude/projects/<project>/<session>.jsonl`.

mod attachment;
mod progress;
mod reducer;
mod types;

pub use self::{
    attachment::Attachment,
    progress::{AgentMessage, Progress},
    reducer::{ClaudeSession, ClaudeSessionMemory, ClaudeSessionReducer, ClaudeSessionState},
    types::{Author, ClaudeSessionJson, ClaudeSessionLine, Notice},
};
