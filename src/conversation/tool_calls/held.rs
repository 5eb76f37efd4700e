//! Results that wait for their call, bounded in count and bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CallResult, CorrId, Limits};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HeldResults<R> {
    results: BTreeMap<CorrId, Held<R>>,
    /// The same results by age.
    by_age: BTreeMap<u64, CorrId>,
    bytes: usize,
    count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Held<R> {
    age: u64,
    bytes: usize,
    result: R,
}

impl<R> Default for HeldResults<R> {
    fn default() -> Self {
        Self { results: BTreeMap::new(), by_age: BTreeMap::new(), bytes: 0, count: 0 }
    }
}

impl<R: CallResult> HeldResults<R> {
    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn contains(&self, id: &CorrId) -> bool {
        self.results.contains_key(id)
    }

    pub(super) fn insert(&mut self, id: CorrId, result: R) {
        let age = self.count;
        let bytes = result.length();
        self.count += 1;
        self.bytes += bytes;
        self.by_age.insert(age, id.clone());
        self.results.insert(id, Held { age, bytes, result });
    }

    pub(super) fn take(&mut self, id: &CorrId) -> Option<R> {
        let held = self.results.remove(id)?;
        self.by_age.remove(&held.age);
        self.bytes -= held.bytes;
        Some(held.result)
    }

    pub(super) fn pop_oldest(&mut self) -> Option<(CorrId, R)> {
        let (_, id) = self.by_age.pop_first()?;
        let held = self.results.remove(&id)?;
        self.bytes -= held.bytes;
        Some((id, held.result))
    }

    /// Removes the oldest result, if there are more than the limits allow.
    pub(super) fn evict(&mut self, limits: &Limits) -> Option<(CorrId, R)> {
        let too_many = self.len() > limits.held_results || self.bytes > limits.held_bytes;
        if too_many { self.pop_oldest() } else { None }
    }
}
