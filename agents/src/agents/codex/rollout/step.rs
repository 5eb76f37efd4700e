//! [`Step`]: a line during its processing, and the state between lines.

use serde::{Deserialize, Serialize};

use super::echoes::{Channel, EchoKind, Echoes};
use crate::{
    codex::{result::CodexResult, usage::Counter},
    prelude::*,
};

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodexRolloutMemory {
    pub(super) session: SessionMemory,
    pub(super) echoes: Echoes,
    /// The number of calls without an id.
    pub(super) unnamed: u64,
}

/// Facts about the session of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SessionMemory {
    /// The file's own `session_meta`: the first.
    pub(super) own_id: Option<SessionId>,
    pub(super) has_meta: bool,
    /// Whether it begins with the history of another session.
    pub(super) forked: bool,
    /// The start of the file's own session.
    pub(super) began_at: Option<Timestamp>,
    /// The time of the last line of a copied history.
    pub(super) replayed_at: Option<Timestamp>,
    pub(super) counter: Counter,
    pub(super) turns: u64,
    pub(super) duration_ms: Option<u64>,
}

/// A line during its processing.
pub(super) struct Step<'s, 'c> {
    pub(super) memory: &'s mut CodexRolloutMemory,
    pub(super) cx: &'s mut Context<'c, CodexResult>,
}

impl Step<'_, '_> {
    /// Whether this item appeared before on another channel.
    pub(super) fn is_echo(&mut self, kind: EchoKind, words: &str, channel: Channel) -> bool {
        self.memory.echoes.is_echo(kind, words, channel)
    }
}
