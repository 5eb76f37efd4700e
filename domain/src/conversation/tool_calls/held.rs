//! Results that await their call, bounded by [`Limits`] in count and bytes.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::super::id::CorrId;
use super::outcome::CallResult;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HeldResults<R> {
    ages: BTreeMap<CorrId, u64>,
    by_age: VecDeque<(Held, R)>,
    bytes: usize,
    count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Held {
    id: CorrId,
    age: u64,
    bytes: usize,
}

impl<R> Default for HeldResults<R> {
    fn default() -> Self {
        Self { ages: BTreeMap::new(), by_age: VecDeque::new(), bytes: 0, count: 0 }
    }
}

impl<R> HeldResults<R> {
    pub(super) fn len(&self) -> usize {
        self.by_age.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn latest(&self, nth: usize) -> Option<&CorrId> {
        self.by_age.iter().rev().nth(nth).map(|(held, _)| &held.id)
    }

    pub(super) fn contains(&self, id: &CorrId) -> bool {
        self.ages.contains_key(id)
    }

    /// Holds the result of a call that has no held result yet.
    pub(super) fn insert(&mut self, id: CorrId, result: R)
    where
        R: CallResult,
    {
        let age = self.count;
        let bytes = result.length();
        self.count += 1;
        self.bytes += bytes;
        self.ages.insert(id.clone(), age);
        self.by_age.push_back((Held { id, age, bytes }, result));
    }

    pub(super) fn take(&mut self, id: &CorrId) -> Option<R> {
        let age = self.ages.remove(id)?;
        let index = self.by_age.binary_search_by_key(&age, |(held, _)| held.age).ok()?;
        let (held, result) = self.by_age.remove(index)?;
        self.bytes -= held.bytes;
        Some(result)
    }

    pub(super) fn pop_oldest(&mut self) -> Option<(CorrId, R)> {
        let (held, result) = self.by_age.pop_front()?;
        self.ages.remove(&held.id);
        self.bytes -= held.bytes;
        Some((held.id, result))
    }

    /// Removes the oldest result if the limits are exceeded.
    pub(super) fn evict(&mut self, limits: &Limits) -> Option<(CorrId, R)> {
        let too_many = self.len() > limits.held_results || self.bytes > limits.held_bytes;
        if too_many { self.pop_oldest() } else { None }
    }
}

/// The limits of open calls and held results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls open at once.
    pub open_calls: usize,
    /// Bytes of calls open at once, with one KiB of overhead each.
    pub open_bytes: usize,
    /// Results that await their call.
    pub held_results: usize,
    /// Bytes of results that await their call.
    pub held_bytes: usize,
    /// Ended calls whose ids are remembered, to distinguish a duplicate from an unknown id.
    pub ended_calls: usize,
}

impl Limits {
    /// The limits used by the executors of this crate.
    pub const DEFAULT: Self = Self {
        open_calls: 1 << 13,
        open_bytes: 8 << 20,
        held_results: 1 << 12,
        held_bytes: 8 << 20,
        ended_calls: 1 << 10,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
