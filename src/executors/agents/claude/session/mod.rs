//! Session files: `~/.claude/projects/<project>/<session>.jsonl`.

mod attachment;
mod progress;
mod recognise;
mod reducer;
mod types;

pub use self::reducer::ClaudeSession;
