//! The pure core: lines of `codex exec --json` in, domain events out.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tracing::trace;

use super::{
    items::Growing,
    threads::Threads,
    types::{ExecJson, ExecLine},
};
use crate::{
    conversation::{
        DomainEvent, Json, NormalizedEntry, NormalizedEntryType, Outcome, Session, SessionId, Text,
        Timestamp, TokenUsage, ToolCalls, tool_calls::Limits,
    },
    executors::{
        codex::{AGENT, CodexResult},
        facts::Facts,
        report,
        wire::Fields,
    },
    transduce::{Batch, Reducer},
};

/// Reduces the lines of `codex exec --json`.
///
/// - An item's lines are one entry, by the item's id. `item.completed` alone is a call with its
///   result.
/// - `turn.completed` states all tokens of the thread so far: what is new in it is passed on, per
///   thread. (Several turns of one thread therefore add up, and a resumed run counts its past once.)
/// - A failure that is told twice, as `error` and as `turn.failed`, is one entry.
///
/// ```
/// use foldline::{
///     conversation::DomainEvent,
///     executors::{codex::{CodexExecReducer, ExecLine}, wire::Record},
///     transduce::Reducer,
/// };
///
/// let reducer = CodexExecReducer::default();
/// let line = r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Hi"}}"#;
/// Record::read(line, |_, record| {
///     let (_state, events) = reducer.reduce(reducer.init(), ExecLine::from(record));
///     assert!(matches!(events.as_slice(), [.., DomainEvent::NewEntry { .. }]));
/// });
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CodexExecReducer {
    limits: Limits,
}

impl CodexExecReducer {
    /// A reducer that holds at most as much as `limits` say.
    pub const fn with_limits(limits: Limits) -> Self {
        Self { limits }
    }
}

/// What the reducer remembers from one line to the next; boxed, because it moves in and out with each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodexExecState {
    pub(super) calls: ToolCalls<CodexResult>,
    pub(super) threads: Threads,
    pub(super) facts: Facts,
    pub(super) growing: Growing,
    turns: u64,
    /// The last failure of this turn, which may be told twice.
    last_error: Option<Text>,
}

impl CodexExecState {
    /// The calls that wait for their result.
    pub fn calls(&self) -> &ToolCalls<CodexResult> {
        &self.calls
    }
}

impl<'a> Reducer<ExecLine<'a>, Box<CodexExecState>, DomainEvent> for CodexExecReducer {
    fn init(&self) -> Box<CodexExecState> {
        Box::default()
    }

    fn reduce(
        &self,
        mut state: Box<CodexExecState>,
        line: ExecLine<'a>,
    ) -> (Box<CodexExecState>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        let ExecLine { json, unknown, thread_id, timestamp: at } = line;
        let thread = thread_id.as_deref();
        Step { limits: &self.limits, state: &mut state, events: &mut events, at, thread }
            .reduce(json, &unknown);
        trace!(open_calls = state.calls.open_calls(), events = events.len(), "line reduced");
        (state, events)
    }

    fn finish(&self, mut state: Box<CodexExecState>) -> (Box<CodexExecState>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        state.growing.finish(&mut events);
        state.calls.finish(&mut events);
        (state, events)
    }
}

/// One line on its way through the reducer.
pub(super) struct Step<'s> {
    pub(super) limits: &'s Limits,
    pub(super) state: &'s mut CodexExecState,
    pub(super) events: &'s mut Batch<DomainEvent>,
    pub(super) at: Option<Timestamp>,
    pub(super) thread: Option<&'s str>,
}

impl Step<'_> {
    fn reduce(&mut self, json: ExecJson<'_>, unknown: &Fields<'_>) {
        match json {
            ExecJson::ThreadStarted { model } => {
                self.unknown("thread.started", unknown);
                self.thread_started(model);
            }
            ExecJson::TurnStarted => {
                self.unknown("turn.started", unknown);
                self.introduce();
                if !self.state.threads.is_foreign(self.thread) {
                    self.state.turns += 1;
                    self.state.last_error = None;
                }
            }
            ExecJson::TurnCompleted { usage } => {
                self.unknown("turn.completed", unknown);
                self.introduce();
                self.turn_ended(Outcome::Success, None);
                self.count(usage);
            }
            ExecJson::TurnFailed { message } => {
                self.unknown("turn.failed", unknown);
                self.failed(message);
            }
            ExecJson::Error { message } => {
                self.unknown("error", unknown);
                self.failed(message);
            }
            ExecJson::Item(phase, item) => {
                self.introduce();
                let extra = self.unknown("item", unknown);
                self.item(phase, item, extra);
            }
            ExecJson::SubagentCompleted(fields) => {
                let entry_type = NormalizedEntryType::SystemMessage;
                self.say(entry_type, "sub-agent completed".into(), fields);
            }
            ExecJson::Unknown(name) if name.is_empty() => {
                report::untyped(unknown, self.at, self.events);
            }
            ExecJson::Unknown(name) => {
                report::unknown_event(&name, unknown, self.at, self.events);
            }
            ExecJson::Irregular(irregular) => report::irregular(&irregular, self.events),
        }
    }

    pub(super) fn unknown(&mut self, of: &str, fields: &Fields<'_>) -> Vec<(String, Json)> {
        report::unknown_fields(of, fields, self.events)
    }

    pub(super) fn say(
        &mut self,
        entry_type: NormalizedEntryType,
        content: Text,
        extra: Vec<(String, Json)>,
    ) {
        let entry = NormalizedEntry::new(entry_type, content).at(self.at);
        let entry = self.of_thread(entry, extra);
        self.events.push(DomainEvent::entry(entry));
    }

    /// The entry with what is known of it beside what it says.
    pub(super) fn of_thread(
        &self,
        mut entry: NormalizedEntry,
        extra: Vec<(String, Json)>,
    ) -> NormalizedEntry {
        if let Some(parent) = self.state.threads.parent_call(self.thread) {
            entry.metadata_mut().parent_corr_id = Some(parent);
        }
        if !extra.is_empty() {
            entry.metadata_mut().extra.extend(extra);
        }
        entry
    }

    fn learn(&mut self, news: Session) {
        self.state.facts.learn(AGENT, news, self.events);
    }

    /// A log may begin in the middle: any line that is Codex's introduces the session.
    fn introduce(&mut self) {
        self.learn(Session::default());
    }

    fn thread_started(&mut self, model: Option<Text>) {
        self.state.threads.start(self.thread);
        self.state.last_error = None;
        let session_id = self.thread.map(SessionId::from);
        let started_at = self.at.filter(|_| self.state.facts.known().started_at.is_none());
        let news = Session { session_id, model, started_at, ..Session::default() };
        self.state.facts.learn_model(AGENT, news, self.at, self.events);
    }

    fn turn_ended(&mut self, outcome: Outcome, reason: Option<Text>) {
        if self.state.threads.is_foreign(self.thread) {
            return;
        }
        // A reason that was given earlier does not hold any more.
        let outdated =
            outcome == Outcome::Success && self.state.facts.known().outcome_reason.is_some();
        let outcome_reason = reason.or_else(|| outdated.then(|| "turn completed".into()));
        let turns = Some(self.state.turns).filter(|&turns| turns > 0);
        let (outcome, ended_at) = (Some(outcome), self.at);
        self.learn(Session { outcome, outcome_reason, turns, ended_at, ..Session::default() });
    }

    fn failed(&mut self, message: Text) {
        self.introduce();
        // What went wrong first is the reason of what went wrong after it.
        let reason = self.state.last_error.is_none().then(|| message.clone());
        self.turn_ended(Outcome::Failed, reason);
        if self.state.last_error.as_ref() != Some(&message) {
            self.state.last_error = Some(message.clone());
            self.say(NormalizedEntryType::ErrorMessage, message, Vec::new());
        }
    }

    fn count(&mut self, usage: Option<TokenUsage>) {
        let Some(total) = usage else { return };
        if let Some(usage) = self.state.threads.count(self.thread, total) {
            let model = self.state.facts.known().model.clone();
            self.events.push(DomainEvent::Usage { usage, model });
        }
    }

    /// The session's directory is never stated in this format; paths stay as they are.
    pub(super) fn cwd(&self) -> Option<Cow<'_, str>> {
        self.state.facts.cwd()
    }
}
