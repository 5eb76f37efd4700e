//! [`ToolCalls`]: the correlation machine that every executor's reducer shares.
//!
//! Results are paired with calls by id and never by the order of their arrival:
//!
//! - a result that comes before its call is held, and joined when the call comes;
//! - a result without an id goes to the oldest open call that fits what it does say (the message, the
//!   tool), and the pairing is marked as inferred;
//! - of two calls with one id, or two results for one call, the first wins; the other one becomes a
//!   warning, and its content an entry;
//! - at the end, open calls end as [`Unfinished`](ToolStatus::Unfinished), and results that no call
//!   claimed become a warning and an entry.
//!
//! Open calls and held results are bounded ([`Limits`]), in number and in bytes. Beyond the limits, the
//! oldest open calls end as unfinished (a later result for one of them becomes an entry with a warning),
//! and the oldest held results become entries with a warning. The state is proportional to what is open,
//! not to the conversation.
//!
//! An executor provides the type of results: [`TextResult`], [`DetailedResult`], or its own [`CallResult`].
//! It can be tested without a log:
//!
//! ```
//! use foldline::{
//!     conversation::{
//!         ActionType, DomainEvent, NormalizedEntry, NormalizedEntryType, Text, Timestamp, ToolCalls,
//!         ToolStatus, ToolUse,
//!         tool_calls::{CallResult, Limits, ResultKey},
//!     },
//!     transduce::Batch,
//! };
//!
//! /// The results of an agent that says how long a tool took.
//! struct Timed {
//!     ok: bool,
//!     text: Text,
//!     took_ms: u64,
//! }
//!
//! impl CallResult for Timed {
//!     fn complete(self, call: &mut NormalizedEntry) {
//!         let Some(tool) = call.tool_mut() else { return };
//!         tool.duration_ms = Some(self.took_ms);
//!         let status = if self.ok { ToolStatus::Success } else { ToolStatus::Failed };
//!         tool.complete(status, self.text);
//!     }
//!     fn timestamp(&self) -> Option<Timestamp> {
//!         None
//!     }
//!     fn content(&self) -> Text {
//!         self.text.clone()
//!     }
//! }
//!
//! let action = ActionType::CommandRun { command: "ls".into(), result: None };
//! let call = NormalizedEntry::new(NormalizedEntryType::ToolUse(ToolUse::new("shell", action)), "ls");
//!
//! // The result comes first and names the call by its id.
//! let (mut calls, limits, mut events) = (ToolCalls::default(), Limits::DEFAULT, Batch::EMPTY);
//! let result = Timed { ok: true, text: "a.txt".into(), took_ms: 7 };
//! calls.result(ResultKey::from("call-1"), result, &limits, &mut events);
//! assert!(events.is_empty() && calls.held_results() == 1);
//!
//! calls.call(Some("call-1".into()), call, &limits, &mut events);
//! let [DomainEvent::NewToolCall { .. }, DomainEvent::UpdateToolCall { entry, .. }] = events.as_slice()
//! else {
//!     panic!("the call, and its result at once")
//! };
//! let tool = entry.tool().ok_or("it is a tool call")?;
//! assert_eq!((&tool.status, tool.duration_ms), (&ToolStatus::Success, Some(7)));
//! assert_eq!(tool.action_type.result_text(), Some("a.txt".into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod detailed_result;
mod held;
mod recent;
mod text_result;

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use tracing::debug;

use self::held::HeldResults;
pub(crate) use self::recent::RecentIds;
pub use self::{detailed_result::DetailedResult, text_result::TextResult};
use super::{
    entry::{NormalizedEntry, ToolStatus, ToolUse},
    event::{DomainEvent, Warning},
    id::CorrId,
    text::Text,
    time::Timestamp,
    warning_kind::WarningKind,
};
use crate::{json, transduce::Batch};

/// A tool's result in the form of one executor.
pub trait CallResult {
    /// Writes the result into the call it belongs to: the status (always a final one) and the body;
    /// the duration only where the log states it, otherwise it follows from the timestamps.
    fn complete(self, call: &mut NormalizedEntry);

    /// The time of the result, if the log states it.
    fn timestamp(&self) -> Option<Timestamp>;

    /// The text that is kept of a result that no call claims.
    fn content(&self) -> Text;

    /// The same by value, so that a long text need not be copied.
    fn into_content(self) -> Text
    where
        Self: Sized,
    {
        self.content()
    }

    /// Its size in bytes, by which the results that wait for their call are bounded. It must be the same
    /// after the result was stored and read.
    fn length(&self) -> usize {
        self.content().decode().len()
    }
}

/// What identifies the call of a result: the call's id, or else the message and the tool.
///
/// ```
/// use foldline::conversation::tool_calls::ResultKey;
///
/// let by_id = ResultKey::from("call-1");
/// let by_guess = ResultKey::default().with_message("msg-7").with_tool("Read");
/// assert!(by_id.id.is_some() && by_guess.id.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultKey {
    /// The call's id.
    pub id: Option<CorrId>,
    /// The id of the message that made the call.
    pub message_id: Option<Text>,
    /// The tool that was called.
    pub tool_name: Option<Text>,
}

impl ResultKey {
    /// The same, with the id of the message that made the call.
    #[must_use]
    pub fn with_message(mut self, id: impl Into<Text>) -> Self {
        self.message_id = Some(id.into());
        self
    }

    /// The same, with the name of the tool that was called.
    #[must_use]
    pub fn with_tool(mut self, name: impl Into<Text>) -> Self {
        self.tool_name = Some(name.into());
        self
    }
}

impl From<Option<CorrId>> for ResultKey {
    fn from(id: Option<CorrId>) -> Self {
        Self { id, ..Self::default() }
    }
}

impl From<CorrId> for ResultKey {
    fn from(id: CorrId) -> Self {
        Self { id: Some(id), ..Self::default() }
    }
}

impl From<&str> for ResultKey {
    fn from(id: &str) -> Self {
        CorrId::from(id).into()
    }
}

/// The limits of open calls and held results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Calls open at once.
    pub open_calls: usize,
    /// Bytes of calls open at once, with one KiB of overhead each.
    pub open_bytes: usize,
    /// Results that wait for their call.
    pub held_results: usize,
    /// Bytes of results that wait for their call.
    pub held_bytes: usize,
    /// Ended calls whose ids are remembered, to distinguish a duplicate from an unknown id.
    pub ended_calls: usize,
}

impl Limits {
    /// The limits that the executors of this crate use.
    pub const DEFAULT: Self = Self {
        open_calls: 1 << 13,
        open_bytes: 8 << 20,
        held_results: 1 << 12,
        held_bytes: 8 << 20,
        ended_calls: 1 << 10,
    };

    /// The same, with another number of calls that are open at once.
    #[must_use]
    pub const fn with_open_calls(mut self, open_calls: usize) -> Self {
        self.open_calls = open_calls;
        self
    }

    /// The same, with another number of bytes of open calls.
    #[must_use]
    pub const fn with_open_bytes(mut self, open_bytes: usize) -> Self {
        self.open_bytes = open_bytes;
        self
    }

    /// The same, with another number of results that wait for their call.
    #[must_use]
    pub const fn with_held_results(mut self, held_results: usize) -> Self {
        self.held_results = held_results;
        self
    }

    /// The same, with another number of bytes of results that wait.
    #[must_use]
    pub const fn with_held_bytes(mut self, held_bytes: usize) -> Self {
        self.held_bytes = held_bytes;
        self
    }

    /// The same, with another number of ended calls that are remembered.
    #[must_use]
    pub const fn with_ended_calls(mut self, ended_calls: usize) -> Self {
        self.ended_calls = ended_calls;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The open calls of a conversation, and the results that wait for their calls. A plain value that can be
/// stored with serde and restored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCalls<R> {
    open: BTreeMap<CorrId, OpenCall>,
    /// The same calls by age.
    by_age: BTreeMap<u64, CorrId>,
    open_bytes: usize,
    held: HeldResults<R>,
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

impl<R> Default for ToolCalls<R> {
    fn default() -> Self {
        Self {
            open: BTreeMap::new(),
            by_age: BTreeMap::new(),
            open_bytes: 0,
            held: HeldResults::default(),
            ended: RecentIds::default(),
            count: 0,
        }
    }
}

impl<R: CallResult> ToolCalls<R> {
    /// How many calls are open.
    pub fn open_calls(&self) -> usize {
        self.open.len()
    }

    /// How many results wait for their call.
    pub fn held_results(&self) -> usize {
        self.held.len()
    }

    /// How many bytes the open calls and the results that wait have, as [`Limits`] count them.
    pub fn bytes(&self) -> usize {
        self.open_bytes + self.held.bytes()
    }

    /// The open call with this id.
    pub fn get(&self, id: &CorrId) -> Option<&NormalizedEntry> {
        Some(&self.open.get(id)?.entry)
    }

    /// The open calls, the oldest first.
    pub fn ids(&self) -> impl Iterator<Item = &CorrId> {
        self.by_age.values()
    }

    /// Whether a call with this id is open, or ended recently.
    pub fn knows(&self, id: &CorrId) -> bool {
        self.open.contains_key(id) || self.ended.contains(id)
    }

    /// The oldest open call of a tool.
    pub fn oldest_of(&self, tool_name: &str) -> Option<&CorrId> {
        self.by_age.values().find(|id| {
            let tool = self.open.get(id.as_str()).and_then(|call| call.entry.tool());
            tool.is_some_and(|tool| tool.tool_name == *tool_name)
        })
    }

    /// Adds a call. A call without an id in the log gets a generated one (`call-0`, ...).
    ///
    /// `entry` must be a tool call; anything else is passed on as an ordinary entry.
    pub fn call(
        &mut self,
        id: Option<CorrId>,
        mut entry: NormalizedEntry,
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) {
        if entry.tool().is_none() {
            events.push(DomainEvent::entry(entry));
            return;
        }
        let age = self.count;
        self.count += 1;
        let id = id.unwrap_or_else(|| CorrId::from(format!("call-{age}")));
        if self.knows(&id) {
            reject_duplicate_call(id, &entry, events);
            return;
        }
        entry.metadata_mut().corr_id = Some(id.clone());
        debug!(corr_id = ?id, open = self.open.len() + 1, "tool call added");
        let entry = Arc::new(entry);
        events.push(DomainEvent::NewToolCall { corr_id: id.clone(), entry: Arc::clone(&entry) });
        if let Some(result) = self.held.take(&id) {
            self.end(id, entry, result, limits, events);
            return;
        }
        let bytes = entry.length();
        self.open_bytes += bytes;
        self.by_age.insert(age, id.clone());
        self.open.insert(id.clone(), OpenCall { age, bytes, entry });
        self.keep_within(id, limits, events);
    }

    /// Adds a result.
    pub fn result(
        &mut self,
        key: ResultKey,
        result: R,
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) {
        let Some(id) = key.id else {
            self.result_without_id(&key, result, limits, events);
            return;
        };
        if let Some(entry) = self.take_open(&id) {
            self.end(id, entry, result, limits, events);
        } else if self.ended.contains(&id) || self.held.contains(&id) {
            let message = format!("a second result came for call {id}; the first one counts");
            let warning = Warning::new(WarningKind::DuplicateResult, message).call(id);
            let timestamp = result.timestamp();
            events.extend(warning.keeping(result.into_content(), timestamp));
        } else {
            debug!(corr_id = ?id, held = self.held.len() + 1, "result held until its call comes");
            self.held.insert(id, result);
            while let Some((id, result)) = self.held.evict(limits) {
                let message = format!("there was no more room to hold the result of call {id}");
                reject_result(Some(id), result, message, events);
            }
        }
    }

    /// Updates an open call with `change`, and emits the update. Does nothing if no such call is open.
    pub fn update(
        &mut self,
        id: &CorrId,
        change: impl FnOnce(&mut NormalizedEntry),
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) -> bool {
        let Some(call) = self.open.get_mut(id) else { return false };
        change(Arc::make_mut(&mut call.entry));
        let before = std::mem::replace(&mut call.bytes, call.entry.length());
        self.open_bytes = self.open_bytes - before + call.bytes;
        let entry = Arc::clone(&call.entry);
        events.push(DomainEvent::UpdateToolCall { corr_id: id.clone(), entry });
        self.keep_within(id.clone(), limits, events);
        true
    }

    fn take_open(&mut self, id: &CorrId) -> Option<Arc<NormalizedEntry>> {
        let call = self.open.remove(id)?;
        self.by_age.remove(&call.age);
        self.open_bytes -= call.bytes;
        Some(call.entry)
    }

    /// Evicts calls after `id` was added or grew; a call that alone exceeds the limit is evicted itself.
    fn keep_within(&mut self, id: CorrId, limits: &Limits, events: &mut Batch<DomainEvent>) {
        if self.open.get(&id).is_some_and(|call| call.bytes > limits.open_bytes) {
            self.abandon(id, limits, events);
        }
        while self.open.len() > limits.open_calls || self.open_bytes > limits.open_bytes {
            self.abandon_oldest(limits, events);
        }
    }

    /// The end of the log: open calls end as unfinished, held results become warnings and entries.
    pub fn finish(&mut self, events: &mut Batch<DomainEvent>) {
        while !self.open.is_empty() {
            self.abandon_oldest(&Limits::DEFAULT, events);
        }
        while let Some((id, result)) = self.held.pop_oldest() {
            let message = format!("no call with the id {id} claimed this result");
            reject_result(Some(id), result, message, events);
        }
    }

    fn result_without_id(
        &mut self,
        key: &ResultKey,
        result: R,
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) {
        let Some(id) = self.best_match(key) else {
            let message = "a result names no call, and no open call fits it".to_owned();
            reject_result(None, result, message, events);
            return;
        };
        let Some(mut entry) = self.take_open(&id) else { return };
        let message = format!("a result names no call; {id} is the oldest open one that fits");
        events.push(Warning::new(WarningKind::InferredResult, message).call(id.clone()).into());
        Arc::make_mut(&mut entry).metadata_mut().inferred = true;
        self.end(id, entry, result, limits, events);
    }

    /// The oldest open call of the result's message, else the oldest one of its tool.
    fn best_match(&self, key: &ResultKey) -> Option<CorrId> {
        let mut fits = self.by_age.values().filter_map(|id| {
            let entry = &self.open.get(id)?.entry;
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

    fn end(
        &mut self,
        id: CorrId,
        mut shared: Arc<NormalizedEntry>,
        result: R,
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) {
        let ended_at = result.timestamp();
        // Usually this is the only reference, and then nothing is copied.
        let entry = Arc::make_mut(&mut shared);
        result.complete(entry);
        let begun_at = entry.timestamp;
        if let Some(tool) = entry.tool_mut() {
            complete_duration(tool, begun_at, ended_at);
        }
        debug!(corr_id = ?id, open = self.open.len(), "tool call removed");
        self.ended.insert(id.clone(), limits.ended_calls);
        events.push(DomainEvent::UpdateToolCall { corr_id: id, entry: shared });
    }

    fn abandon_oldest(&mut self, limits: &Limits, events: &mut Batch<DomainEvent>) {
        if let Some((_, id)) = self.by_age.first_key_value() {
            self.abandon(id.clone(), limits, events);
        }
    }

    fn abandon(&mut self, id: CorrId, limits: &Limits, events: &mut Batch<DomainEvent>) {
        let Some(mut entry) = self.take_open(&id) else { return };
        debug!(corr_id = ?id, open = self.open.len(), "tool call removed without a result");
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

fn reject_duplicate_call(id: CorrId, entry: &NormalizedEntry, events: &mut Batch<DomainEvent>) {
    let message = format!("a second call came with the id {id}; the first one counts");
    let content = json::to_string(entry).unwrap_or_default();
    let warning = Warning::new(WarningKind::DuplicateCall, message).call(id);
    events.extend(warning.keeping(content, entry.timestamp));
}

fn reject_result<R: CallResult>(
    id: Option<CorrId>,
    result: R,
    message: String,
    events: &mut Batch<DomainEvent>,
) {
    let mut warning = Warning::new(WarningKind::UnclaimedResult, message);
    warning.corr_id = id;
    let timestamp = result.timestamp();
    events.extend(warning.keeping(result.into_content(), timestamp));
}

#[cfg(test)]
mod tests;
