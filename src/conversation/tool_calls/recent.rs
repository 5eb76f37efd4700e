//! The ids that were used last: of ended calls, of records.

use std::collections::{HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::CorrId;

/// A set of ids that forgets the oldest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "VecDeque<CorrId>", into = "VecDeque<CorrId>")]
pub(crate) struct RecentIds {
    by_age: VecDeque<CorrId>,
    /// The same ids, to be asked for; nothing depends on their order.
    ids: HashSet<CorrId>,
}

impl RecentIds {
    /// Whether this id is remembered.
    pub(crate) fn contains(&self, id: &CorrId) -> bool {
        self.ids.contains(id)
    }

    /// Remembers an id, and forgets the oldest beyond `limit`.
    pub(crate) fn insert(&mut self, id: CorrId, limit: usize) {
        if self.ids.insert(id.clone()) {
            self.by_age.push_back(id);
        }
        while self.by_age.len() > limit {
            if let Some(oldest) = self.by_age.pop_front() {
                self.ids.remove(&oldest);
            }
        }
    }
}

impl From<VecDeque<CorrId>> for RecentIds {
    fn from(by_age: VecDeque<CorrId>) -> Self {
        Self { ids: by_age.iter().cloned().collect(), by_age }
    }
}

impl From<RecentIds> for VecDeque<CorrId> {
    fn from(recent: RecentIds) -> Self {
        recent.by_age
    }
}
