//! [`Growing`]: an entry with growing text, and the length of the sent part.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::conversation::{NormalizedEntry, Text};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Growing {
    entry: Arc<NormalizedEntry>,
    /// The length of the sent text, and of the text added since.
    sent: usize,
    pending: usize,
}

impl Growing {
    pub(super) fn new(entry: &Arc<NormalizedEntry>) -> Self {
        Self { entry: Arc::clone(entry), sent: entry.content.size(), pending: 0 }
    }

    pub(super) fn push(&mut self, text: &Text) {
        self.pending += text.size();
        Arc::make_mut(&mut self.entry).content.push(text);
    }

    /// The current entry, if the unsent text is at least a third of the sent text.
    pub(super) fn flush_if_worth_it(&mut self) -> Option<Arc<NormalizedEntry>> {
        if self.pending.saturating_mul(3) < self.sent { None } else { self.flush() }
    }

    /// The current entry, if it has unsent text.
    pub(super) fn flush(&mut self) -> Option<Arc<NormalizedEntry>> {
        if self.pending == 0 {
            return None;
        }
        self.sent += std::mem::take(&mut self.pending);
        Some(Arc::clone(&self.entry))
    }
}
