//! [`Only`]: the kinds of entries that a person wants.

use std::collections::BTreeSet;

use clap::ValueEnum;
use foldline_domain::{CorrId, DomainEvent, NormalizedEntry, NormalizedEntryType};

/// Entries of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Messages of the user
    Prompts,
    /// Messages of the agent
    Answers,
    /// Thoughts of the agent
    Thinking,
    /// Tool calls
    Tools,
    /// Failed tool calls and errors
    Errors,
}

/// Chooses entries, and what belongs to them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Only {
    /// All kinds, if it is empty.
    what: Vec<What>,
    /// Growing entries and calls that are not chosen.
    hidden: BTreeSet<CorrId>,
}

impl Only {
    pub(crate) fn new(what: &[What]) -> Self {
        Self { what: what.to_vec(), hidden: BTreeSet::new() }
    }

    /// The beginning of a call that was not chosen until this update of it, such as one that failed.
    pub(crate) fn begun(
        &mut self,
        event: &DomainEvent,
        is_wanted: impl FnOnce(&NormalizedEntry) -> bool,
    ) -> Option<DomainEvent> {
        let DomainEvent::UpdateToolCall { corr_id, entry } = event else { return None };
        if !self.hidden.contains(corr_id) || !self.is_of_kind(entry) || !is_wanted(entry) {
            return None;
        }
        self.hidden.remove(corr_id);
        Some(DomainEvent::NewToolCall { corr_id: corr_id.clone(), entry: entry.clone() })
    }

    fn is_of_kind(&self, entry: &NormalizedEntry) -> bool {
        self.what.is_empty() || self.what.iter().any(|what| what.includes(entry))
    }

    /// Whether an event is chosen: one of an entry of these kinds that is also wanted otherwise, or one of no entry.
    pub(crate) fn chooses(
        &mut self,
        event: &DomainEvent,
        is_wanted: impl FnOnce(&NormalizedEntry) -> bool,
    ) -> bool {
        match event {
            DomainEvent::NewEntry { entry } => self.is_of_kind(entry) && is_wanted(entry),
            DomainEvent::OpenEntry { corr_id, entry }
            | DomainEvent::NewToolCall { corr_id, entry } => {
                let is_chosen = self.is_of_kind(entry) && is_wanted(entry);
                if !is_chosen {
                    self.hidden.insert(corr_id.clone());
                }
                is_chosen
            }
            DomainEvent::GrowEntry { corr_id, .. }
            | DomainEvent::UpdateToolCall { corr_id, .. } => !self.hidden.contains(corr_id),
            DomainEvent::CloseEntry { corr_id, .. } => !self.hidden.remove(corr_id),
            _ => true,
        }
    }
}

impl What {
    /// Whether an entry is of this kind.
    pub(crate) fn includes(self, entry: &NormalizedEntry) -> bool {
        match (self, &entry.entry_type) {
            (Self::Prompts, NormalizedEntryType::UserMessage)
            | (Self::Answers, NormalizedEntryType::AssistantMessage)
            | (Self::Thinking, NormalizedEntryType::Thinking)
            | (Self::Tools, NormalizedEntryType::ToolUse(_))
            | (Self::Errors, NormalizedEntryType::ErrorMessage) => true,
            (Self::Errors, NormalizedEntryType::ToolUse(tool)) => tool.status.is_failure(),
            _ => false,
        }
    }
}
