//! [`RecentIds`]: a bounded set of recently used ids of calls or records.

use std::collections::VecDeque;

use foldhash::HashSet;
use serde::{Deserialize, Serialize};

use super::super::id::CorrId;

/// A bounded set of ids, which evicts the oldest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "VecDeque<CorrId>", into = "VecDeque<CorrId>")]
pub struct RecentIds {
    by_age: VecDeque<CorrId>,
    /// The same ids for look-up; their order has no effect.
    ids: HashSet<CorrId>,
}

impl RecentIds {
    /// Whether the set contains this id.
    pub fn contains(&self, id: &CorrId) -> bool {
        self.ids.contains(id)
    }

    /// Adds an id, and evicts the oldest ones beyond `limit`.
    pub fn insert(&mut self, id: CorrId, limit: usize) {
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
