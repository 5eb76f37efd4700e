//! [`Threads`]: the threads of a log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{codex::Counter, prelude::*};

/// The maximum number of threads that are distinguished. Further threads share one counter.
const MAX_THREADS: usize = 256;

/// The number of items that are remembered for each thread.
const MAX_ITEMS: usize = 256;

/// The threads of a log: usually one, run once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Threads {
    /// The thread of lines without an id.
    current: Option<SessionId>,
    /// The number of starts and resumptions of threads.
    runs: u64,
    known: BTreeMap<SessionId, Thread>,
    /// The latest item ids of each thread.
    items: BTreeMap<SessionId, RecentIds>,
    /// The counter of lines before any thread, and of threads beyond the maximum.
    unnamed: Counter,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Thread {
    /// The call that started it.
    spawned_by: Option<CorrId>,
    usage: Counter,
}

impl Threads {
    /// Starts a run. Item ids begin with 0 in each run.
    pub(super) fn start(&mut self, id: Option<&str>) {
        self.runs += 1;
        self.current = id.map(SessionId::from);
    }

    /// Whether a line belongs to a sub-agent in the log.
    pub(super) fn is_foreign(&self, line: Option<&str>) -> bool {
        match (line, &self.current) {
            (Some(line), Some(current)) => line != current.as_str(),
            _ => false,
        }
    }

    /// An item's id, made unique within the log if an earlier run or another thread may have the same id.
    pub(super) fn corr_id(&mut self, line: Option<&str>, item: &str) -> CorrId {
        let id = CorrId::from(item);
        let is_foreign = self.is_foreign(line);
        let qualified = match line.filter(|_| is_foreign) {
            Some(thread) => CorrId::from(format!("{thread}/{item}")),
            None if self.runs > 1 => return CorrId::from(format!("run-{}/{item}", self.runs)),
            None => CorrId::from(format!("run-1/{item}")),
        };
        let current = self.current.as_ref().map(SessionId::as_str);
        let thread = SessionId::from(line.or(current).unwrap_or_default());
        let is_taken =
            |(other, items): (&SessionId, &RecentIds)| *other != thread && items.contains(&id);
        if self.items.iter().any(is_taken) {
            return qualified;
        }
        if self.items.contains_key(&thread) || self.items.len() < MAX_THREADS {
            self.items.entry(thread).or_default().insert(id.clone(), MAX_ITEMS);
        }
        id
    }

    /// Records the call that started the thread `id`.
    pub(super) fn spawned(&mut self, id: &str, call: &CorrId) {
        let id = SessionId::from(id);
        if self.known.contains_key(&id) || self.known.len() < MAX_THREADS {
            self.known.entry(id).or_default().spawned_by.get_or_insert_with(|| call.clone());
        }
    }

    /// The call that started the thread of a line.
    pub(super) fn parent_call(&self, line: Option<&str>) -> Option<CorrId> {
        self.known.get(line?)?.spawned_by.clone()
    }

    /// The increase of a thread's running total.
    pub(super) fn count(&mut self, line: Option<&str>, total: TokenUsage) -> Option<TokenUsage> {
        let id = line.map(SessionId::from).or_else(|| self.current.clone());
        let counter = match id {
            Some(id) if self.known.contains_key(&id) || self.known.len() < MAX_THREADS => {
                &mut self.known.entry(id).or_default().usage
            }
            _ => &mut self.unnamed,
        };
        counter.advance(total, None)
    }
}
