//! Session files: `~/.qwen/projects/<project>/chats/<session>.jsonl`, and those of sub-agents.

mod parts;
mod recognise;
mod reducer;
mod types;

pub use self::reducer::QwenSession;
