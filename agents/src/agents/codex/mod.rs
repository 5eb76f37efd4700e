//! OpenAI's Codex CLI: the stream of `codex exec --json`, and its rollout files.

mod action_mapper;
mod case;
pub mod exec;
mod output;
mod result;
pub mod rollout;
mod tools;
mod usage;

use self::usage::Counter;
pub use self::{exec::CodexExec, rollout::CodexRollout};

/// The name of the agent in the facts of a session.
const AGENT: &str = "codex";
