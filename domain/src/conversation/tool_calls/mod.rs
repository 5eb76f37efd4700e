//! [`ToolCalls`]: the correlation machine shared by the reducers of all executors.
//!
//! Results are paired with calls by id and never by the order of their arrival:
//!
//! - a result that arrives before its call is held, and joined when the call arrives;
//! - a result without an id is assigned to the oldest open call that matches its other data (the message, the tool),
//!   and the pairing is marked as inferred;
//! - of two calls with one id, or two results for one call, the first is kept; the second becomes a warning, and its
//!   content an entry;
//! - at the end, open calls end as [`Unfinished`](super::ToolStatus::Unfinished), and results without a call become a
//!   warning and an entry.
//!
//! Open calls and held results are bounded ([`Limits`]), in number and in bytes. Beyond the limits, the oldest open
//! calls end as unfinished (a later result for one of them becomes an entry with a warning), and the oldest held
//! results become entries with a warning. The size of the state is proportional to the open calls, not to the
//! conversation.
//!
//! An executor provides the type of results: [`ToolOutcome`], or a custom [`CallResult`]. It can be tested without a
//! log:
//!
//! ```
//! use foldline::transduce::Batch;
//! use foldline_domain::{
//!     ActionType, DomainEvent, NormalizedEntry, NormalizedEntryType, ToolCalls, ToolStatus,
//!     ToolUse, tool_calls::{Limits, ResultKey, ToolOutcome},
//! };
//!
//! let action = ActionType::CommandRun { command: "ls".into(), result: None };
//! let call = NormalizedEntry::new(NormalizedEntryType::ToolUse(ToolUse::new("shell", action)), "ls");
//!
//! // The result comes first and names the call by its id.
//! let (mut calls, limits, mut events) = (ToolCalls::default(), Limits::DEFAULT, Batch::EMPTY);
//! let mut result: ToolOutcome = ToolOutcome::text(ToolStatus::Success, "a.txt");
//! result.duration_ms = Some(7);
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

mod held;
mod open;
mod outcome;

use std::sync::Arc;

use foldline::transduce::Batch;
use serde::{Deserialize, Serialize};
use tracing::debug;

#[allow(unused_imports, reason = "executors also remember ids")]
pub use self::open::RecentIds;
use self::{held::HeldResults, open::OpenCalls};
pub use self::{
    held::Limits,
    outcome::{CallResult, ResultKey, ResultParser, ToolOutcome},
};
use super::{
    entry::NormalizedEntry,
    event::{DomainEvent, Warning},
    id::CorrId,
    warning_kind::WarningKind,
};

/// The open calls of a conversation, and the results that await their calls. A plain value that can be stored with
/// serde and restored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCalls<R> {
    // Code that is independent of the type of results is separate, so that it is compiled once.
    open: OpenCalls,
    held: HeldResults<R>,
}

impl<R> Default for ToolCalls<R> {
    fn default() -> Self {
        Self { open: OpenCalls::default(), held: HeldResults::default() }
    }
}

impl<R> ToolCalls<R> {
    /// The number of open calls.
    pub fn open_calls(&self) -> usize {
        self.open.len()
    }

    /// The number of results that await their call.
    pub fn held_results(&self) -> usize {
        self.held.len()
    }

    /// The id of a held result, counted from the latest one.
    #[allow(dead_code, reason = "used in a layer above")]
    pub fn latest_held(&self, nth: usize) -> Option<&CorrId> {
        self.held.latest(nth)
    }

    /// The number of bytes of open calls and held results, as measured by [`Limits`].
    pub fn bytes(&self) -> usize {
        self.open.bytes() + self.held.bytes()
    }

    /// The open call with this id.
    pub fn get(&self, id: &CorrId) -> Option<&NormalizedEntry> {
        self.open.get(id)
    }

    /// The open calls, the oldest first.
    pub fn ids(&self) -> impl Iterator<Item = &CorrId> {
        self.open.ids()
    }

    /// Whether a call with this id is open, or ended recently.
    pub fn knows(&self, id: &CorrId) -> bool {
        self.open.knows(id)
    }

    /// The oldest open call of a tool.
    pub fn oldest_of(&self, tool_name: &str) -> Option<&CorrId> {
        self.open.oldest_of(tool_name)
    }

    /// Updates an open call with `change`, and emits the update. Does nothing if no such call is open.
    pub fn update(
        &mut self,
        id: &CorrId,
        change: impl FnOnce(&mut NormalizedEntry),
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) -> bool {
        self.open.update(id, change, limits, events)
    }
}

impl<R: CallResult> ToolCalls<R> {
    /// Adds a call. A call without an id in the log gets a generated one (`call-0`, ...).
    ///
    /// `entry` must be a tool call; any other entry is passed on unchanged.
    pub fn call(
        &mut self,
        id: Option<CorrId>,
        entry: NormalizedEntry,
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) {
        let Some(call) = self.open.begin(id, entry, events) else { return };
        match self.held.take(&call.id) {
            Some(result) => self.end(call.id, call.entry, result, limits, events),
            None => self.open.insert(call, limits, events),
        }
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
            match self.open.take_best_match(&key, events) {
                Some((id, entry)) => self.end(id, entry, result, limits, events),
                None => {
                    let message = "a result names no call, and no open call fits it".to_owned();
                    reject(None, result, message, events);
                }
            }
            return;
        };
        if let Some(entry) = self.open.take(&id) {
            self.end(id, entry, result, limits, events);
        } else if self.open.has_ended(&id) || self.held.contains(&id) {
            let message = format!("a second result came for call {id}; the first one counts");
            let warning = Warning::new(WarningKind::DuplicateResult, message).call(id);
            let timestamp = result.timestamp();
            events.extend(warning.keeping(result.into_content(), timestamp));
        } else {
            debug!(corr_id = ?id, held = self.held.len() + 1, "result held until its call comes");
            self.held.insert(id, result);
            while let Some((id, result)) = self.held.evict(limits) {
                let message = format!("there was no more room to hold the result of call {id}");
                reject(Some(id), result, message, events);
            }
        }
    }

    /// The end of the log: open calls end as unfinished, held results become warnings and entries.
    pub fn finish(&mut self, events: &mut Batch<DomainEvent>) {
        self.open.abandon_all(events);
        while let Some((id, result)) = self.held.pop_oldest() {
            let message = format!("no call with the id {id} claimed this result");
            reject(Some(id), result, message, events);
        }
    }

    fn end(
        &mut self,
        id: CorrId,
        mut entry: Arc<NormalizedEntry>,
        result: R,
        limits: &Limits,
        events: &mut Batch<DomainEvent>,
    ) {
        let ended_at = result.timestamp();
        // Usually this is the only reference, and nothing is copied.
        result.complete(Arc::make_mut(&mut entry));
        self.open.end(id, entry, ended_at, limits, events);
    }
}

fn reject<R: CallResult>(
    id: Option<CorrId>,
    result: R,
    message: String,
    events: &mut Batch<DomainEvent>,
) {
    let timestamp = result.timestamp();
    let mut warning = Warning::new(WarningKind::UnclaimedResult, message);
    warning.corr_id = id;
    events.extend(warning.keeping(result.into_content(), timestamp));
}
