//! An entry whose text grows, and how much of it was sent.

use serde::{Deserialize, Serialize};

use crate::conversation::{NormalizedEntry, Text};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Growing {
    entry: NormalizedEntry,
    /// How much was sent, and how much has come since.
    sent: usize,
    pending: usize,
}

impl Growing {
    pub(super) fn new(entry: &NormalizedEntry) -> Self {
        Self { entry: entry.clone(), sent: entry.content.size(), pending: 0 }
    }

    pub(super) fn push(&mut self, text: &Text) {
        self.pending += text.size();
        self.entry.content.push(text);
    }

    /// The entry as it is now, if a third of what was sent has come since.
    pub(super) fn flush_if_worth_it(&mut self) -> Option<NormalizedEntry> {
        if self.pending.saturating_mul(3) < self.sent { None } else { self.flush() }
    }

    /// The entry as it is now, if anything has come since it was sent.
    pub(super) fn flush(&mut self) -> Option<NormalizedEntry> {
        if self.pending == 0 {
            return None;
        }
        self.sent += std::mem::take(&mut self.pending);
        Some(self.entry.clone())
    }
}
