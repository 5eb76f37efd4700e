//! [`Summary`]: everything of a conversation except its entries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{event::DomainEvent, session::Session, usage::TokenUsage, warning_kind::WarningKind};

/// The session's facts, the total usage and the number of warnings of a conversation. Its size does not depend on the
/// length of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The session's facts, each with its latest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Box<Session>>,
    /// The total usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// The number of warnings of each kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub warnings: BTreeMap<WarningKind, u64>,
}

/// The part of a [`Summary`] changed by an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryPart {
    /// The session's facts.
    Session,
    /// The tokens used.
    Usage,
    /// The count of one kind of warning.
    Warning(WarningKind),
}

impl Summary {
    /// Applies an event, and returns the changed part.
    pub fn apply(&mut self, event: &DomainEvent) -> Option<SummaryPart> {
        match event {
            DomainEvent::Session(update) => {
                self.session.get_or_insert_default().merge(update);
                Some(SummaryPart::Session)
            }
            DomainEvent::Usage { usage, .. } => {
                self.usage.get_or_insert_default().add(usage);
                Some(SummaryPart::Usage)
            }
            DomainEvent::Warning(warning) => Some(self.warn(warning.kind)),
            _ => None,
        }
    }

    /// Counts a warning.
    pub fn warn(&mut self, kind: WarningKind) -> SummaryPart {
        *self.warnings.entry(kind).or_default() += 1;
        SummaryPart::Warning(kind)
    }
}
