//! GitHub's Copilot CLI: the events of a session, in `~/.copilot/session-state/<session>/events.jsonl` and
//! as `copilot --output-format json` prints them.

mod action_mapper;
mod reducer;
mod types;

pub use self::reducer::{Copilot, CopilotMemory};
