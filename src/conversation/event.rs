//! [`DomainEvent`]: the one boundary between agents and consumers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    entry::{NormalizedEntry, NormalizedEntryType},
    id::CorrId,
    json::Json,
    session::Session,
    text::Text,
    time::Timestamp,
    usage::TokenUsage,
};

/// What happened in a conversation. Executors produce these, emitters read them, and nothing else
/// passes between the two. Serialised as `{"event": "new_entry", "data": {..}}`.
///
/// An event says *what*, never *where on a screen*: entries have no index here. An entry is shared,
/// so that a consumer may keep it without copying it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DomainEvent {
    /// The log stated facts about the session; they add to, or replace, earlier ones. The end of a
    /// session is such facts too (outcome, turns, duration): more may follow after it.
    Session(Box<Session>),
    /// Something was said.
    NewEntry {
        /// What was said.
        entry: Arc<NormalizedEntry>,
    },
    /// Something begins to be said, and will grow until it is closed under the same id.
    OpenEntry {
        /// The id that the growing text comes under.
        corr_id: CorrId,
        /// The entry as it begins.
        entry: Arc<NormalizedEntry>,
    },
    /// An open entry got more text at its end.
    GrowEntry {
        /// The id that the entry was opened under.
        corr_id: CorrId,
        /// What is added.
        text: Text,
    },
    /// An open entry is complete.
    CloseEntry {
        /// The id that the entry was opened under.
        corr_id: CorrId,
        /// The entry as a whole, if it is to replace what has grown.
        entry: Option<Arc<NormalizedEntry>>,
    },
    /// A tool was called.
    NewToolCall {
        /// The call's id, as the log gives it.
        corr_id: CorrId,
        /// The call; its type is always [`NormalizedEntryType::ToolUse`].
        entry: Arc<NormalizedEntry>,
    },
    /// A tool call went on or ended; its status says which.
    UpdateToolCall {
        /// The call's id.
        corr_id: CorrId,
        /// The call as it is now, whole, so that a consumer needs no memory of it.
        entry: Arc<NormalizedEntry>,
    },
    /// Tokens were used, on top of those stated before: consumers add them up.
    Usage {
        /// What was used.
        usage: TokenUsage,
        /// By which model, where the log says.
        model: Option<Text>,
    },
    /// The log is not what it should be.
    Warning(Box<Warning>),
}

impl DomainEvent {
    /// An entry that is complete.
    pub fn entry(entry: impl Into<Arc<NormalizedEntry>>) -> Self {
        Self::NewEntry { entry: entry.into() }
    }

    /// A warning that no raw text belongs to.
    pub fn warning(kind: WarningKind, message: impl Into<String>) -> Self {
        Self::Warning(Box::new(Warning::new(kind, message)))
    }

    /// The event's tag, as it is serialised.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::NewEntry { .. } => "new_entry",
            Self::OpenEntry { .. } => "open_entry",
            Self::GrowEntry { .. } => "grow_entry",
            Self::CloseEntry { .. } => "close_entry",
            Self::NewToolCall { .. } => "new_tool_call",
            Self::UpdateToolCall { .. } => "update_tool_call",
            Self::Usage { .. } => "usage",
            Self::Warning(_) => "warning",
        }
    }

    /// When it happened, where the log says.
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
            Self::GrowEntry { .. }
            | Self::CloseEntry { entry: None, .. }
            | Self::Usage { .. }
            | Self::Warning(_) => None,
        }
    }
}

/// Something about the log that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Warning {
    /// What kind of thing.
    pub kind: WarningKind,
    /// One sentence for a person.
    pub message: String,
    /// What exactly was unknown: the name of an event type, of a field (`tool_call.riskScore`), of a
    /// tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The call that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corr_id: Option<CorrId>,
    /// The value in question, as it stands in the log, unless it is large: an entry has it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Json>,
}

impl Warning {
    /// How large a sample may be: it is there to be looked at, not to keep what was said.
    pub const MAX_SAMPLE: usize = 64 << 10;

    /// A warning of a kind, with one sentence.
    pub fn new(kind: WarningKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), subject: None, corr_id: None, sample: None }
    }

    /// The same warning about something that has a name.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// The same warning with the value in question, unless that has more than
    /// [`MAX_SAMPLE`](Self::MAX_SAMPLE) bytes.
    #[must_use]
    pub fn sample(mut self, sample: impl Into<Json>) -> Self {
        self.sample = Some(sample.into()).filter(|sample| sample.get().len() <= Self::MAX_SAMPLE);
        self
    }

    /// The same warning about a call.
    #[must_use]
    pub fn call(mut self, corr_id: CorrId) -> Self {
        self.corr_id = Some(corr_id);
        self
    }

    /// The warning, followed by an entry that keeps what it is about.
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

/// What can be wrong with a log. Serialised in `snake_case`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningKind {
    /// A line that begins like JSON and is not.
    Malformed,
    /// A line that is not JSON at all, where the format has only JSON.
    PlainText,
    /// Bytes that are not UTF-8; they were replaced by U+FFFD.
    InvalidUtf8,
    /// A line longer than the limit, or one that is no text; only its beginning is kept.
    TooLong,
    /// A JSON value that is no object, or an object without what tells its type.
    UnexpectedValue,
    /// A record that belongs to another format.
    ForeignRecord,
    /// A type of record that the executor does not know.
    UnknownEvent,
    /// A field that the executor does not know, or that has an unexpected type.
    UnknownField,
    /// A content block that the executor does not know.
    UnknownBlock,
    /// A tool that the executor does not know, and that is no MCP tool.
    UnknownTool,
    /// A second call with an id that is in use or was; the first one counts.
    DuplicateCall,
    /// A second result for one call; the first one counts.
    DuplicateResult,
    /// A result that no call claimed until the end of the log, or until there was no more room.
    UnclaimedResult,
    /// A result that names no call was given to the oldest one that fits.
    InferredResult,
    /// A call without a result at the end of the log.
    UnfinishedCall,
    /// An update to an entry that nobody knows.
    UnknownCorrelation,
}

impl WarningKind {
    /// The word that this kind is serialised as.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::PlainText => "plain_text",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::TooLong => "too_long",
            Self::UnexpectedValue => "unexpected_value",
            Self::ForeignRecord => "foreign_record",
            Self::UnknownEvent => "unknown_event",
            Self::UnknownField => "unknown_field",
            Self::UnknownBlock => "unknown_block",
            Self::UnknownTool => "unknown_tool",
            Self::DuplicateCall => "duplicate_call",
            Self::DuplicateResult => "duplicate_result",
            Self::UnclaimedResult => "unclaimed_result",
            Self::InferredResult => "inferred_result",
            Self::UnfinishedCall => "unfinished_call",
            Self::UnknownCorrelation => "unknown_correlation",
        }
    }
}
