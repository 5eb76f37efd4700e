//! [`Step`]: one line on its way through the executor, and what is remembered between lines.

use serde::{Deserialize, Serialize};

use super::{growing::Growing, threads::Threads};
use crate::{
    conversation::Text,
    executors::{Context, codex::result::CodexResult},
};

/// What the executor remembers beside calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodexExecMemory {
    pub(super) threads: Threads,
    pub(super) growing: Growing,
    pub(super) turns: u64,
    /// The last failure of this turn, which may be told twice.
    pub(super) last_error: Option<Text>,
}

/// One line on its way through the executor.
pub(super) struct Step<'s, 'c> {
    pub(super) memory: &'s mut CodexExecMemory,
    pub(super) cx: &'s mut Context<'c, CodexResult>,
    /// The thread that the line names.
    pub(super) thread: Option<&'s str>,
}
