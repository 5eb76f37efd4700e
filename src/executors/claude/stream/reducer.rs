//! The pure core: lines of the stream in, domain events out.

use serde::{Deserialize, Serialize};
use tracing::trace;

use super::{
    event::{Delta, PartialEvent},
    outcome::{RunUsage, outcome_of},
    run_result::{Denial, RunResult},
    streamed::Streamed,
    types::{ClaudeStreamJson, ClaudeStreamLine, Init, RateLimit, System, Task, UserExtras},
};
use crate::{
    conversation::{
        DomainEvent, Json, NormalizedEntryType, Session, SessionId, Text, TokenUsage,
        tool_calls::Limits,
    },
    executors::{
        claude::{
            content::{Block, BlockKind, Message},
            result::ClaudeResult,
            talk::{Beside, Speaker, Talk, Turn},
            usage,
        },
        report,
        wire::Fields,
    },
    transduce::{Batch, Reducer},
};

/// Reduces the lines of `claude -p --output-format stream-json --verbose`, with or without
/// `--include-partial-messages`.
///
/// The tokens of a run are those of its `result`, which is about the main conversation; they are
/// reported when it comes, because the lines before it carry early snapshots only. A run that ends
/// without a `result` counts by these snapshots, once a message. Sub-agents and the program's helper
/// models (`modelUsage`) are in the cost, as the log states it, and not in the tokens. A second
/// `result` counts what it adds to the first.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClaudeStreamReducer {
    limits: Limits,
}

impl ClaudeStreamReducer {
    /// A reducer that holds at most as much as `limits` say.
    pub const fn with_limits(limits: Limits) -> Self {
        Self { limits }
    }
}

/// What the reducer remembers from one line to the next; boxed, because it moves in and out with each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaudeStreamState {
    talk: Talk,
    streamed: Streamed,
    usage: RunUsage,
    /// The message whose partial lines are being read, for its usage.
    writing: Option<Text>,
    /// The last words of the main conversation, which the result repeats.
    last_words: Option<Text>,
    /// The last rate limit that was shown.
    rate_limit: Option<(Text, Option<Text>)>,
}

impl<'a> Reducer<ClaudeStreamLine<'a>, Box<ClaudeStreamState>, DomainEvent>
    for ClaudeStreamReducer
{
    fn init(&self) -> Box<ClaudeStreamState> {
        Box::default()
    }

    fn reduce(
        &self,
        mut state: Box<ClaudeStreamState>,
        line: ClaudeStreamLine<'a>,
    ) -> (Box<ClaudeStreamState>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        let ClaudeStreamState { talk, streamed, usage, writing, last_words, rate_limit } =
            &mut *state;
        let (at, parent) = (line.timestamp, line.parent.clone());
        let turn = Turn { limits: &self.limits, talk, events: &mut events, at, parent };
        Step { turn, streamed, usage, writing, last_words, rate_limit }.reduce(line);
        trace!(open_calls = state.talk.calls.open_calls(), events = events.len(), "line reduced");
        (state, events)
    }

    fn finish(
        &self,
        mut state: Box<ClaudeStreamState>,
    ) -> (Box<ClaudeStreamState>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        let ClaudeStreamState { talk, streamed, usage, writing, last_words, rate_limit } =
            &mut *state;
        let turn = Turn { limits: &self.limits, talk, events: &mut events, at: None, parent: None };
        Step { turn, streamed, usage, writing, last_words, rate_limit }.cut();
        state.talk.calls.finish(&mut events);
        (state, events)
    }
}

/// One line on its way through the reducer.
struct Step<'s> {
    turn: Turn<'s>,
    streamed: &'s mut Streamed,
    usage: &'s mut RunUsage,
    writing: &'s mut Option<Text>,
    last_words: &'s mut Option<Text>,
    rate_limit: &'s mut Option<(Text, Option<Text>)>,
}

impl Step<'_> {
    fn reduce(&mut self, line: ClaudeStreamLine<'_>) {
        let ClaudeStreamLine { json, name, unknown, session_id, .. } = line;
        match json {
            ClaudeStreamJson::Irregular(irregular) => {
                report::irregular(&irregular, self.turn.events);
                return;
            }
            ClaudeStreamJson::Foreign => {
                report::foreign_record(&name, &unknown, self.turn.at, self.turn.events);
                return;
            }
            _ => self.enter(session_id.as_deref()),
        }
        let is_known = !matches!(
            json,
            ClaudeStreamJson::Unknown | ClaudeStreamJson::Partial(PartialEvent::Unknown)
        );
        let extra = match is_known {
            true => self.turn.unknown(&name, &unknown),
            false => Vec::new(),
        };
        match json {
            ClaudeStreamJson::System(system) => self.system(system),
            ClaudeStreamJson::Assistant { message, is_error } => {
                self.assistant(message, is_error, extra);
            }
            ClaudeStreamJson::User { message, extras } => {
                let UserExtras { detail, meta, from_program } = extras;
                let from = if from_program { Speaker::Program } else { Speaker::Person };
                let beside = Beside { detail, meta: meta.as_deref() };
                self.turn.user(message, from, extra, beside);
            }
            ClaudeStreamJson::Result(result) => self.result(*result),
            ClaudeStreamJson::Partial(event) => self.partial(event, &name, &unknown),
            ClaudeStreamJson::RateLimit(limit) => self.rate_limit(limit),
            ClaudeStreamJson::Quiet => {}
            ClaudeStreamJson::Unknown => {
                report::unknown_event(&name, &unknown, self.turn.at, self.turn.events);
            }
            // Handled above.
            ClaudeStreamJson::Foreign | ClaudeStreamJson::Irregular(_) => {}
        }
    }

    /// The line belongs to a session; what another one had left open ends.
    fn enter(&mut self, session_id: Option<&str>) {
        let known = self.turn.talk.session.session_id.as_ref().map(SessionId::as_str);
        if session_id.is_some() && known.is_some() && known != session_id {
            self.cut();
        }
        self.turn.enter(session_id);
    }

    fn system(&mut self, system: System) {
        let notice = |turn: &mut Turn<'_>, text| turn.say(NormalizedEntryType::SystemMessage, text);
        match system {
            System::Init(init) => self.init(*init),
            System::TaskRuns(task) => {
                if let Some(call) = task.call {
                    self.turn.running(&call);
                }
            }
            System::TaskEnded(task) => self.task_ended(task),
            System::Hook(hook) => {
                if let Some(failure) = hook.describe_failure() {
                    notice(&mut self.turn, failure);
                }
            }
            System::Compacted(compaction) => {
                notice(&mut self.turn, compaction.describe("conversation compacted"));
            }
            System::ApiRetry(error) => {
                self.turn.say(NormalizedEntryType::ErrorMessage, error.describe());
            }
            // The call that was refused gets a result of its own, with the same words.
            System::Denied { message: _ } => {}
        }
    }

    fn init(&mut self, init: Init) {
        self.stop_writing();
        self.usage.restart();
        let Init { cwd, tools, model, version } = init;
        let started_at = self.turn.at;
        self.turn.learn(Session { cwd, tools, version, started_at, ..Session::default() });
        self.turn.learn_model(model);
    }

    /// No complete line will come for what is being written.
    fn stop_writing(&mut self) {
        self.streamed.abandon(&mut self.turn);
        *self.writing = None;
    }

    /// A run ended without a `result`, as far as it had come.
    fn cut(&mut self) {
        self.stop_writing();
        let usage = self.usage.cut();
        self.spend(usage);
    }

    /// A sub-agent's end is its call's result; only what runs in the background ends on its own.
    fn task_ended(&mut self, task: Task) {
        let is_open = task.call.is_some_and(|call| self.turn.talk.calls.get(&call).is_some());
        if let Some(summary) = task.summary.filter(|_| !is_open) {
            let status = task.status.unwrap_or_else(|| "ended".into());
            let text = Text::from(format!("task {status}: {summary}"));
            self.turn.say(NormalizedEntryType::SystemMessage, text);
        }
    }

    fn assistant(&mut self, message: Message<'_>, is_error: bool, extra: Vec<(String, Json)>) {
        let synthetic = message.is_synthetic();
        let is_main = self.turn.parent.is_none();
        if is_main {
            if let Some(usage) = message.usage {
                self.usage.note(message.id.as_ref(), usage);
            }
            if !synthetic {
                self.turn.learn_model(message.model.clone());
            }
        }
        for Block { kind, .. } in &message.content {
            match kind {
                BlockKind::Text(text) if is_main => *self.last_words = Some(text.clone()),
                BlockKind::ToolUse(call) => {
                    call.id.as_ref().inspect(|id| self.streamed.claim_call(id));
                }
                _ => {}
            }
        }
        let entry_type = match (is_error, synthetic) {
            (true, _) => NormalizedEntryType::ErrorMessage,
            (false, true) => NormalizedEntryType::SystemMessage,
            (false, false) => NormalizedEntryType::AssistantMessage,
        };
        let streamed = &mut *self.streamed;
        self.turn.assistant(message, &entry_type, extra, &mut |entry, events| {
            streamed.claim(entry, events)
        });
    }

    fn partial(&mut self, event: PartialEvent<'_>, name: &str, unknown: &Fields<'_>) {
        let parent = self.turn.parent.clone();
        match event {
            PartialEvent::MessageStart(message) => {
                self.streamed.begin(parent.as_ref(), &message);
                if parent.is_none() {
                    *self.writing = message.id.clone();
                    self.note_partial(message.usage);
                }
            }
            PartialEvent::BlockStart { index, kind, text, call, tool_name } => {
                match (&*kind, call) {
                    ("text", _) => self.streamed.begin_text(index, false, &text, &mut self.turn),
                    ("thinking", _) => self.streamed.begin_text(index, true, &text, &mut self.turn),
                    (kind, Some(call)) if kind.ends_with("tool_use") => {
                        let tool_name = tool_name.into_owned();
                        self.streamed.begin_call(index, call, tool_name, &mut self.turn);
                    }
                    // The complete line says what it is.
                    _ => {}
                }
            }
            PartialEvent::BlockDelta { index, delta } => match delta {
                Delta::Text(text) => self.streamed.grow(index, &text, &mut self.turn),
                Delta::Input(more) => self.streamed.grow_input(index, &more, parent.as_ref()),
                Delta::Quiet => {}
                Delta::Unknown(raw) => {
                    let at = self.turn.at;
                    report::unknown_block("delta", raw.into(), at, self.turn.events);
                }
            },
            PartialEvent::MessageDelta(usage) => {
                if parent.is_none() {
                    self.note_partial(usage);
                }
            }
            PartialEvent::MessageStop => self.streamed.stop(parent.as_ref()),
            PartialEvent::Error(message) => {
                self.turn.say(NormalizedEntryType::ErrorMessage, message);
            }
            PartialEvent::Quiet => {}
            PartialEvent::Unknown => {
                report::unknown_event(name, unknown, self.turn.at, self.turn.events);
            }
        }
    }

    /// The running total of the message that is being written; without an id nobody could tell it
    /// from that of the complete line.
    fn note_partial(&mut self, usage: Option<TokenUsage>) {
        if let (Some(id), Some(usage)) = (&*self.writing, usage) {
            self.usage.note(Some(id), usage);
        }
    }

    fn rate_limit(&mut self, limit: RateLimit) {
        let RateLimit { status, kind, utilization } = limit;
        let Some(status) = status else { return };
        let is_fine = status == "allowed";
        let shown = (status, kind);
        if is_fine || self.rate_limit.as_ref() == Some(&shown) {
            if is_fine {
                *self.rate_limit = None;
            }
            return;
        }
        let mut text = format!("rate limit: {}", shown.0);
        if let Some(kind) = &shown.1 {
            text += &format!(", {kind}");
        }
        if let Some(part) = utilization {
            text += &format!(", {:.0} % used", part * 100.0);
        }
        let entry_type = match shown.0 == "rejected" {
            true => NormalizedEntryType::ErrorMessage,
            false => NormalizedEntryType::SystemMessage,
        };
        *self.rate_limit = Some(shown);
        self.turn.say(entry_type, text.into());
    }

    fn result(&mut self, mut result: RunResult<'_>) {
        self.stop_writing();
        for denial in std::mem::take(&mut result.denials) {
            self.denied(denial);
        }
        let outcome = outcome_of(&result);
        let entry_type = match result.is_error.unwrap_or(false) {
            true => NormalizedEntryType::ErrorMessage,
            false => NormalizedEntryType::AssistantMessage,
        };
        if let Some(words) = result.result.take() {
            self.say_once(&entry_type, words);
        }
        for error in std::mem::take(&mut result.errors) {
            self.say_once(&NormalizedEntryType::ErrorMessage, error);
        }
        let session_id = self.turn.talk.session.session_id.clone();
        let usage = self.usage.settle(&result, session_id.as_ref());
        let RunResult { subtype, terminal_reason, turns, duration_ms, .. } = result;
        let subtype = subtype.filter(|subtype| *subtype != "success");
        let session = Session {
            outcome: Some(outcome),
            outcome_reason: terminal_reason.or(subtype),
            turns,
            duration_ms,
            ended_at: self.turn.at,
            ..Session::default()
        };
        self.turn.learn(session);
        self.spend(usage);
    }

    /// What the agent's last words were is not said again.
    fn say_once(&mut self, entry_type: &NormalizedEntryType, words: Text) {
        let is_same = |said: &Text| *said == words || said.decode().trim() == words.decode().trim();
        if words.is_empty() || self.last_words.as_ref().is_some_and(is_same) {
            return;
        }
        self.turn.say(entry_type.clone(), words.clone());
        *self.last_words = Some(words);
    }

    /// A call that was refused ends so; one that has a result has said so itself.
    fn denied(&mut self, denial: Denial<'_>) {
        let Denial { call: Some(call), tool_name, input } = denial else { return };
        if self.turn.talk.calls.knows(&call) && self.turn.talk.calls.get(&call).is_none() {
            return;
        }
        if self.turn.talk.calls.get(&call).is_none() {
            self.turn.call_of(Some(call.clone()), &tool_name, input, None);
        }
        let result = ClaudeResult::denied(self.turn.at);
        let Turn { talk, limits, events, .. } = &mut self.turn;
        talk.calls.result(call.into(), result, limits, events);
    }

    fn spend(&mut self, usage: TokenUsage) {
        if usage::is_something(&usage) {
            let model = self.turn.talk.session.model.clone();
            self.turn.events.push(DomainEvent::Usage { usage, model });
        }
    }
}
