//! [`Threads`]: which thread a line belongs to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    conversation::{CorrId, SessionId, TokenUsage, tool_calls::RecentIds},
    executors::codex::Counter,
};

/// How many threads of one log are told apart. More than that share what is left.
const MAX_THREADS: usize = 256;

/// How many items of each thread are remembered.
const MAX_ITEMS: usize = 256;

/// The threads of a log: usually one, run once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Threads {
    /// The thread that lines without an id belong to.
    current: Option<SessionId>,
    /// How often a thread was started or resumed.
    runs: u64,
    known: BTreeMap<SessionId, Thread>,
    /// The ids that items of each thread had last.
    items: BTreeMap<SessionId, RecentIds>,
    /// The counter of lines before any thread, and of threads that are not told apart.
    unnamed: Counter,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Thread {
    /// The call that started it.
    spawned_by: Option<CorrId>,
    usage: Counter,
}

impl Threads {
    /// A run began. Item ids are counted from 0 in each.
    pub(super) fn start(&mut self, id: Option<&str>) {
        self.runs += 1;
        self.current = id.map(SessionId::from);
    }

    /// Whether a line is the work of a sub-agent that the log tells of.
    pub(super) fn is_foreign(&self, line: Option<&str>) -> bool {
        match (line, &self.current) {
            (Some(line), Some(current)) => line != current.as_str(),
            _ => false,
        }
    }

    /// An item's id, unique within the log: that of the log itself, unless an earlier run or another thread may
    /// have an item of the same id.
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

    /// A call started the thread `id`.
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

    /// What a thread's running total adds.
    pub(super) fn count(&mut self, line: Option<&str>, total: TokenUsage) -> Option<TokenUsage> {
        let id = line.map(SessionId::from).or_else(|| self.current.clone());
        let counter = match id {
            Some(id) if self.known.contains_key(&id) || self.known.len() < MAX_THREADS => {
                &mut self.known.entry(id).or_default().usage
            }
            _ => &mut self.unnamed,
        };
        counter.advance(total)
    }
}
