//! Open calls, bounded in count and bytes, and the ids of ended calls.

use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    sync::Arc,
};

use foldhash::HashSet;
use foldline::{position::Timestamp, transduce::Batch};
use serde::{Deserialize, Serialize};
use tracing::debug;

use super::super::{
    entry::{NormalizedEntry, ToolStatus, ToolUse},
    event::{DomainEvent, Warning},
    id::CorrId,
    warning_kind::WarningKind,
};
use super::{held::Limits, outcome::ResultKey};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenCalls {
    calls: BTreeMap<CorrId, OpenCall>,
    /// The same calls by age.
    by_age: BTreeMap<u64, CorrId>,
    bytes: usize,
    ended: RecentIds,
    /// The number of calls so far.
    count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenCall {
    age: u64,
    bytes: usize,
    entry: Arc<NormalizedEntry>,
}

/// A new call that is not open yet: its result may already be available.
pub(super) struct NewCall {
    pub(super) id: CorrId,
    age: u64,
    pub(super) entry: Arc<NormalizedEntry>,
}

impl OpenCalls {
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn get(&self, id: &CorrId) -> Option<&NormalizedEntry> {
        Some(&self.calls.get(id)?.entry)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &CorrId> {
        self.by_age.values()
    }

    pub(super) fn knows(&self, id: &CorrId) -> bool {
        self.calls.contains_key(id) || self.has_ended(id)
    }

    pub(super) fn has_ended(&self, id: &CorrId) -> bool {
        self.ended.contains(id)
    }

    pub(super) fn oldest_of(&self, tool_name: &str) -> Option<&CorrId> {
        self.by_age.values().find(|id| {
            let tool = self.get(id).and_then(NormalizedEntry::tool);
            tool.is_some_and(|tool| tool.tool_name == *tool_name)
        })
    }

    /// Emits a call, unless one with its id is known.
    pub(super) fn begin(
        &mut self,
        id: Option<CorrId>,
        mut entry: NormalizedEntry,
        events: &mut Batch<DomainEvent>,
    ) -> Option<NewCall> {
        if entry.tool().is_none() {
            events.push(DomainEvent::entry(entry));
            return None;
        }
        let age = self.count;
        self.count += 1;
        let id = id.unwrap_or_else(|| CorrId::from(format!("call-{age}")));
        if self.knows(&id) {
            reject_duplicate(id, &entry, events);
            return None;
        }
        entry.metadata_mut().corr_id = Some(id.clone());
        debug!(corr_id = ?id, open = self.len() + 1, "tool call added");
        let entry = Arc::new(entry);
        events.push(DomainEvent::NewToolCall { corr_id: id.clone(), entry: Arc::clone(&entry) });
        Some(NewCall { id, age, entry })
    }

    /// Keeps a call open until its result arrives.
    pub(super) fn insert(
        &mut self,
        call: NewCall,
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) {
        let NewCall { id, age, entry } = call;
        let bytes = entry.length();
        self.bytes += bytes;
        self.by_age.insert(age, id.clone());
        self.calls.insert(id.clone(), OpenCall { age, bytes, entry });
        self.keep_within(id, limits, events);
    }

    pub(super) fn update(
        &mut self,
        id: &CorrId,
        change: impl FnOnce(&mut NormalizedEntry),
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) -> bool {
        let Some(call) = self.calls.get_mut(id) else { return false };
        change(Arc::make_mut(&mut call.entry));
        let before = mem::replace(&mut call.bytes, call.entry.length());
        self.bytes = self.bytes - before + call.bytes;
        let entry = Arc::clone(&call.entry);
        events.push(DomainEvent::UpdateToolCall { corr_id: id.clone(), entry });
        self.keep_within(id.clone(), limits, events);
        true
    }

    pub(super) fn take(&mut self, id: &CorrId) -> Option<Arc<NormalizedEntry>> {
        let call = self.calls.remove(id)?;
        self.by_age.remove(&call.age);
        self.bytes -= call.bytes;
        Some(call.entry)
    }

    /// Takes the call for a result without an id, and marks the pairing as inferred.
    pub(super) fn take_best_match(
        &mut self,
        key: &ResultKey,
        events: &mut Batch<DomainEvent>,
    ) -> Option<(CorrId, Arc<NormalizedEntry>)> {
        let id = self.best_match(key)?;
        let mut entry = self.take(&id)?;
        let message = format!("a result names no call; {id} is the oldest open one that fits");
        events.push(Warning::new(WarningKind::InferredResult, message).call(id.clone()).into());
        Arc::make_mut(&mut entry).metadata_mut().inferred = true;
        Some((id, entry))
    }

    /// The oldest open call of the result's message, else the oldest open call of its tool.
    fn best_match(&self, key: &ResultKey) -> Option<CorrId> {
        let mut fits = self.by_age.values().filter_map(|id| {
            let entry = self.get(id)?;
            let same_tool = match &key.tool_name {
                Some(tool_name) => entry.tool()?.tool_name == *tool_name,
                None => true,
            };
            same_tool.then_some((id, entry))
        });
        let Some(message_id) = &key.message_id else {
            return fits.next().map(|(id, _)| id.clone());
        };
        let mut oldest = None;
        for (id, entry) in fits {
            let of_message =
                entry.metadata.as_ref().and_then(|metadata| metadata.message_id.as_ref());
            if of_message == Some(message_id) {
                return Some(id.clone());
            }
            oldest = oldest.or_else(|| Some(id.clone()));
        }
        oldest
    }

    /// Emits a taken call together with its result.
    pub(super) fn end(
        &mut self,
        id: CorrId,
        mut shared: Arc<NormalizedEntry>,
        ended_at: Option<Timestamp>,
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) {
        let entry = Arc::make_mut(&mut shared);
        let begun_at = entry.timestamp;
        if let Some(tool) = entry.tool_mut() {
            complete_duration(tool, begun_at, ended_at);
        }
        debug!(corr_id = ?id, open = self.len(), "tool call removed");
        self.ended.insert(id.clone(), limits.ended_calls);
        events.push(DomainEvent::UpdateToolCall { corr_id: id, entry: shared });
    }

    /// Ends all calls as unfinished.
    pub(super) fn abandon_all(&mut self, events: &mut Batch<DomainEvent>) {
        while !self.calls.is_empty() {
            self.abandon_oldest(&Limits::DEFAULT, events);
        }
    }

    /// Evicts calls after `id` was added or grew; a call that exceeds the limit by itself is evicted.
    fn keep_within(&mut self, id: CorrId, limits: &Limits, events: &mut Batch<DomainEvent>) {
        if self.calls.get(&id).is_some_and(|call| call.bytes > limits.open_bytes) {
            self.abandon(id, limits, events);
        }
        while self.len() > limits.open_calls || self.bytes > limits.open_bytes {
            self.abandon_oldest(limits, events);
        }
    }

    fn abandon_oldest(&mut self, limits: &Limits, events: &mut Batch<DomainEvent>) {
        if let Some((_, id)) = self.by_age.first_key_value() {
            self.abandon(id.clone(), limits, events);
        }
    }

    fn abandon(&mut self, id: CorrId, limits: &Limits, events: &mut Batch<DomainEvent>) {
        let Some(mut entry) = self.take(&id) else { return };
        debug!(corr_id = ?id, open = self.len(), "tool call removed without a result");
        if let Some(tool) = Arc::make_mut(&mut entry).tool_mut() {
            tool.status = ToolStatus::Unfinished;
        }
        let message = format!("call {id} has no result");
        events.push(Warning::new(WarningKind::UnfinishedCall, message).call(id.clone()).into());
        self.ended.insert(id.clone(), limits.ended_calls);
        events.push(DomainEvent::UpdateToolCall { corr_id: id, entry });
    }
}

fn complete_duration(tool: &mut ToolUse, begun: Option<Timestamp>, ended: Option<Timestamp>) {
    if tool.duration_ms.is_none()
        && let (Some(begun), Some(ended)) = (begun, ended)
    {
        tool.duration_ms = ended.millis_since(begun);
    }
}

fn reject_duplicate(id: CorrId, entry: &NormalizedEntry, events: &mut Batch<DomainEvent>) {
    let message = format!("a second call came with the id {id}; the first one counts");
    let content = foldline_json::to_string(entry).unwrap_or_default();
    let warning = Warning::new(WarningKind::DuplicateCall, message).call(id);
    events.extend(warning.keeping(content, entry.timestamp));
}

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
