//! [`DomainEvent`]: the only boundary between agents and consumers.

use std::sync::Arc;

use foldline::position::Timestamp;
use foldline_json::{Json, Text, stated};
use serde::{Deserialize, Serialize};

use super::{
    entry::{NormalizedEntry, NormalizedEntryType},
    id::CorrId,
    session::Session,
    usage::TokenUsage,
    warning_kind::WarningKind,
};

/// An event of a conversation. Executors produce events, emitters read them, and there is no other connection between
/// the two. Serialised as `{"event": "new_entry", "data": {..}}`.
///
/// An event says *what* happened, never *where it is displayed*: entries have no index here. An entry is shared, so
/// that a consumer may keep it without copying it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum DomainEvent {
    /// Facts about the session, which extend or replace earlier ones. Facts also state the end of a session (outcome,
    /// turns, duration), and more events may follow.
    Session(Box<Session>),
    /// A new complete entry.
    NewEntry {
        /// The entry.
        entry: Arc<NormalizedEntry>,
    },
    /// A new entry that grows until it is closed under the same id.
    OpenEntry {
        /// The id under which the entry grows.
        corr_id: CorrId,
        /// The first state of the entry.
        entry: Arc<NormalizedEntry>,
    },
    /// Text is appended to an open entry.
    GrowEntry {
        /// The id under which the entry was opened.
        corr_id: CorrId,
        /// The appended text.
        text: Text,
    },
    /// An open entry is complete.
    CloseEntry {
        /// The id under which the entry was opened.
        corr_id: CorrId,
        /// The whole entry, if it replaces the text so far.
        entry: Option<Arc<NormalizedEntry>>,
    },
    /// A tool was called.
    NewToolCall {
        /// The call's id, as stated in the log.
        corr_id: CorrId,
        /// The call; its type is always [`NormalizedEntryType::ToolUse`].
        entry: Arc<NormalizedEntry>,
    },
    /// A tool call was updated or ended; see its status.
    UpdateToolCall {
        /// The call's id.
        corr_id: CorrId,
        /// The whole call in its current state, so that a consumer does not have to remember it.
        entry: Arc<NormalizedEntry>,
    },
    /// Tokens that were used in addition to those reported before: consumers sum them.
    Usage {
        /// The tokens and the cost.
        usage: Box<TokenUsage>,
        /// The model, if the log states it.
        model: Option<Text>,
        /// The message that used the tokens, if other logs may report it under the same id: the file of a resumed
        /// session, or a sub-agent's file. A message that several logs report counts once. An id that begins with
        /// [`OF_THREAD`](super::OF_THREAD) is that of the same message only in a session and its forks;
        /// one with [`OF_WINDOW`](super::OF_WINDOW) states the cost of a time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<Text>,
        /// The time of use, if the log states it. If a log states tokens as a total, for instance at the end of a
        /// run, this is the latest possible time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timestamp: Option<Timestamp>,
    },
    /// Something in the log is invalid or unknown.
    Warning(Box<Warning>),
    /// No more events of this session follow: the log has ended, or has not mentioned the session for a long time.
    /// Its outcome, if the log states it, is a fact of [`Session`](Self::Session).
    SessionEnded,
}

impl DomainEvent {
    /// A complete entry.
    pub fn entry(entry: impl Into<Arc<NormalizedEntry>>) -> Self {
        Self::NewEntry { entry: entry.into() }
    }

    /// A warning without raw text.
    pub fn warning(kind: WarningKind, message: impl Into<String>) -> Self {
        Self::Warning(Box::new(Warning::new(kind, message)))
    }

    /// The event's tag in its serialised form.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// The time of the event, if the log states it.
    pub fn timestamp(&self) -> Option<Timestamp> {
        match self {
            Self::NewEntry { entry }
            | Self::OpenEntry { entry, .. }
            | Self::NewToolCall { entry, .. }
            | Self::CloseEntry { entry: Some(entry), .. } => entry.timestamp,
            Self::UpdateToolCall { entry, .. } => {
                let duration = entry.tool().and_then(|tool| tool.duration_ms).unwrap_or(0);
                let duration = i64::try_from(duration).unwrap_or(i64::MAX);
                let begun = entry.timestamp?.as_millis();
                Some(Timestamp::from_millis(begun.saturating_add(duration)))
            }
            Self::Session(session) => session.ended_at.or(session.started_at),
            Self::Usage { timestamp, .. } => *timestamp,
            Self::GrowEntry { .. }
            | Self::CloseEntry { entry: None, .. }
            | Self::Warning(_)
            | Self::SessionEnded => None,
        }
    }
}

/// Something invalid or unknown in a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// The kind.
    pub kind: WarningKind,
    /// A human-readable sentence.
    pub message: String,
    /// The name of the unknown item: an event type, a field (`tool_call.riskScore`), a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The call concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corr_id: Option<CorrId>,
    /// The raw value concerned, unless it is large; an entry contains it too.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub sample: Option<Json>,
}

impl Warning {
    /// The maximum size of a sample in bytes: it is for diagnosis, not for preserving content.
    pub const MAX_SAMPLE: usize = 64 << 10;

    /// A warning with a kind and a message.
    pub fn new(kind: WarningKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), subject: None, corr_id: None, sample: None }
    }

    /// Sets the name of the item concerned.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Adds the value concerned, unless it has more than [`MAX_SAMPLE`](Self::MAX_SAMPLE) bytes.
    #[must_use]
    pub fn sample(mut self, sample: impl Into<Json>) -> Self {
        self.sample = Some(sample.into()).filter(|sample| sample.get().len() <= Self::MAX_SAMPLE);
        self
    }

    /// Sets the call concerned.
    #[must_use]
    pub fn call(mut self, corr_id: CorrId) -> Self {
        self.corr_id = Some(corr_id);
        self
    }

    /// The warning, followed by an entry that keeps the content concerned.
    pub fn keeping(
        self,
        content: impl Into<Text>,
        timestamp: Option<Timestamp>,
    ) -> [DomainEvent; 2] {
        let code = self.kind;
        let mut entry =
            NormalizedEntry::new(NormalizedEntryType::Diagnostic { code }, content).at(timestamp);
        if let Some(corr_id) = &self.corr_id {
            entry.metadata_mut().corr_id = Some(corr_id.clone());
        }
        [DomainEvent::from(self), DomainEvent::entry(entry)]
    }
}

impl From<Warning> for DomainEvent {
    fn from(warning: Warning) -> Self {
        Self::Warning(Box::new(warning))
    }
}
