//! [`Step`]: one line on its way through the executor, and what is remembered between lines.

use serde::{Deserialize, Serialize};

use super::echoes::{Channel, EchoKind, Echoes};
use crate::{
    conversation::{SessionId, Timestamp},
    executors::{
        Context,
        codex::{result::CodexResult, usage::Counter},
    },
};

/// What the executor remembers beside calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodexRolloutMemory {
    pub(super) session: SessionMemory,
    pub(super) echoes: Echoes,
    /// How many calls there were that no line gave an id.
    pub(super) unnamed: u64,
}

/// What is known of the session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SessionMemory {
    /// The file's own `session_meta`: the first.
    pub(super) own_id: Option<SessionId>,
    pub(super) has_meta: bool,
    /// It begins with another session's history.
    pub(super) forked: bool,
    /// When the file's own session began.
    pub(super) began_at: Option<Timestamp>,
    /// The time of the last line of a history that is being copied.
    pub(super) replayed_at: Option<Timestamp>,
    pub(super) counter: Counter,
    pub(super) turns: u64,
    pub(super) duration_ms: Option<u64>,
}

/// One line on its way through the executor.
pub(super) struct Step<'s, 'c> {
    pub(super) memory: &'s mut CodexRolloutMemory,
    pub(super) cx: &'s mut Context<'c, CodexResult>,
}

impl Step<'_, '_> {
    /// Whether this was said before on another channel.
    pub(super) fn is_echo(&mut self, kind: EchoKind, words: &str, channel: Channel) -> bool {
        self.memory.echoes.is_echo(kind, words, channel)
    }
}
