//! The pure core: Droid's lines in, domain events out.

use serde::{Deserialize, Serialize};
use tracing::trace;

use super::{
    action_mapper,
    result::DroidResult,
    types::{Completion, DroidJson, DroidLine, Error, Message, Reasoning, System, ToolCall},
};
use crate::{
    conversation::{
        DomainEvent, Json, NormalizedEntry, NormalizedEntryType, Outcome, Session, SessionId, Text,
        Timestamp, ToolCalls,
        tool_calls::{Limits, ResultKey},
    },
    executors::{facts::Facts, report, wire::Fields},
    transduce::{Batch, Reducer},
};

const AGENT: &str = "droid";

/// Reduces the lines of `droid exec --output-format stream-json` (and `-o json`).
///
/// ```
/// use foldline::{
///     conversation::DomainEvent,
///     executors::droid::{DroidJson, DroidReducer, Message},
///     transduce::Reducer,
/// };
///
/// let reducer = DroidReducer::default();
/// let message = Message { role: "assistant".into(), text: "Done.".into(), ..Message::default() };
/// let (_state, events) = reducer.reduce(reducer.init(), DroidJson::Message(message).into());
/// assert!(matches!(events.as_slice(), [.., DomainEvent::NewEntry { .. }]));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DroidReducer {
    limits: Limits,
}

impl DroidReducer {
    /// A reducer that holds at most as much as `limits` say.
    pub const fn with_limits(limits: Limits) -> Self {
        Self { limits }
    }
}

/// What the reducer remembers from one line to the next; boxed, because it moves in and out with each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DroidState {
    calls: ToolCalls<DroidResult>,
    facts: Facts,
    /// The last thought, since streams print each twice.
    last_reasoning: Option<(Option<Text>, Text)>,
    /// The agent's last words, which the completion repeats.
    last_words: Option<Text>,
    /// The words of a completion that came before the message it repeats.
    final_words: Option<Text>,
}

impl DroidState {
    /// The calls that wait for their result, and the results that wait for their call.
    pub fn calls(&self) -> &ToolCalls<DroidResult> {
        &self.calls
    }
}

impl<'a> Reducer<DroidLine<'a>, Box<DroidState>, DomainEvent> for DroidReducer {
    fn init(&self) -> Box<DroidState> {
        Box::default()
    }

    fn reduce(
        &self,
        mut state: Box<DroidState>,
        line: DroidLine<'a>,
    ) -> (Box<DroidState>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        let mut step = Step {
            limits: &self.limits,
            state: &mut state,
            events: &mut events,
            at: line.timestamp,
        };
        step.reduce(line);
        trace!(open_calls = state.calls.open_calls(), events = events.len(), "line reduced");
        (state, events)
    }

    fn finish(&self, mut state: Box<DroidState>) -> (Box<DroidState>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        state.calls.finish(&mut events);
        (state, events)
    }
}

/// One line on its way through the reducer.
struct Step<'s> {
    limits: &'s Limits,
    state: &'s mut DroidState,
    events: &'s mut Batch<DomainEvent>,
    at: Option<Timestamp>,
}

impl Step<'_> {
    fn reduce(&mut self, line: DroidLine<'_>) {
        let DroidLine { json, unknown, session_id, timestamp: _ } = line;
        let known = self.state.facts.known().session_id.as_ref().map(SessionId::as_str);
        if known.is_none() || session_id.as_deref().is_some_and(|id| known != Some(id)) {
            let session_id = session_id.map(SessionId::from);
            self.learn(Session { session_id, ..Session::default() });
        }
        match json {
            DroidJson::System(line) => self.system(line, &unknown),
            DroidJson::Message(line) => self.message(line, &unknown),
            DroidJson::Reasoning(line) => self.reasoning(line, &unknown),
            DroidJson::ToolCall(line) => self.tool_call(line, &unknown),
            DroidJson::ToolResult(mut line) => {
                let extra = self.unknown("tool_result", &unknown);
                let key = ResultKey {
                    id: line.id.take(),
                    message_id: line.message_id.take(),
                    tool_name: line.tool_id.take(),
                };
                let result = DroidResult::new(line, self.at, extra);
                self.state.calls.result(key, result, self.limits, self.events);
            }
            DroidJson::Completion(line) => {
                self.unknown("completion", &unknown);
                self.completion(line);
            }
            DroidJson::Result(line) => {
                self.unknown("result", &unknown);
                self.completion(line);
            }
            DroidJson::Error(line) => self.error(line, &unknown),
            DroidJson::Unknown(name) => {
                report::unknown_event(&name, &unknown, self.at, self.events);
            }
            DroidJson::Irregular(irregular) => report::irregular(&irregular, self.events),
        }
    }

    fn learn(&mut self, news: Session) {
        self.state.facts.learn(AGENT, news, self.events);
    }

    fn unknown(&mut self, of: &str, fields: &Fields<'_>) -> Vec<(String, Json)> {
        report::unknown_fields(of, fields, self.events)
    }

    fn say(
        &mut self,
        entry_type: NormalizedEntryType,
        content: Text,
        message_id: Option<Text>,
        extra: Vec<(String, Json)>,
    ) {
        let mut entry = NormalizedEntry::new(entry_type, content).at(self.at);
        if message_id.is_some() || !extra.is_empty() {
            let metadata = entry.metadata_mut();
            metadata.message_id = message_id;
            metadata.extra.extend(extra);
        }
        self.events.push(DomainEvent::entry(entry));
    }

    fn system(&mut self, line: System, unknown: &Fields<'_>) {
        let System { cwd, tools, model, reasoning_effort } = line;
        self.unknown("system", unknown);
        let started_at = self.at;
        let news =
            Session { cwd, tools, model, reasoning_effort, started_at, ..Session::default() };
        self.state.facts.learn_model(AGENT, news, self.at, self.events);
    }

    fn message(&mut self, line: Message<'_>, unknown: &Fields<'_>) {
        let mut extra = self.unknown("message", unknown);
        let entry_type = match &*line.role {
            "user" => NormalizedEntryType::UserMessage,
            "assistant" => NormalizedEntryType::AssistantMessage,
            other => {
                extra.push(("role".to_owned(), Json::from(Text::from(other))));
                NormalizedEntryType::SystemMessage
            }
        };
        if entry_type == NormalizedEntryType::AssistantMessage {
            let repeated = self.state.final_words.take();
            if repeated.is_some_and(|words| same_words(&words, &line.text)) {
                return;
            }
            self.state.last_words = Some(line.text.clone());
        }
        self.say(entry_type, line.text, line.id, extra);
    }

    fn reasoning(&mut self, line: Reasoning, unknown: &Fields<'_>) {
        let extra = self.unknown("reasoning", unknown);
        let thought = (line.id, line.text);
        if self.state.last_reasoning.as_ref() == Some(&thought) {
            return;
        }
        self.state.last_reasoning = Some(thought.clone());
        let (id, text) = thought;
        self.say(NormalizedEntryType::Thinking, text, id, extra);
    }

    fn tool_call(&mut self, line: ToolCall<'_>, unknown: &Fields<'_>) {
        let extra = self.unknown("tool_call", unknown);
        let cwd = self.state.facts.cwd();
        let call = action_mapper::map(&line.tool_name, line.parameters, cwd.as_deref());
        if call.unknown {
            report::unknown_tool(&line.tool_name, line.parameters, self.events);
        }
        let mut entry = call.into_entry(&line.tool_name).at(self.at);
        let metadata = entry.metadata_mut();
        metadata.message_id = line.message_id;
        metadata.extra.extend(extra);
        self.state.calls.call(line.id, entry, self.limits, self.events);
    }

    fn completion(&mut self, line: Completion) {
        let Completion { final_text, turns, duration_ms, usage, is_error } = line;
        if let Some(words) = final_text.filter(|words| !words.is_empty()) {
            let said = self.state.last_words.take().is_some_and(|said| same_words(&said, &words));
            if !said {
                self.state.final_words = Some(words.clone());
                let entry_type = match is_error {
                    true => NormalizedEntryType::ErrorMessage,
                    false => NormalizedEntryType::AssistantMessage,
                };
                self.say(entry_type, words, None, Vec::new());
            }
        }
        let outcome = Some(if is_error { Outcome::Failed } else { Outcome::Success });
        let ended_at = self.at;
        self.learn(Session { outcome, turns, duration_ms, ended_at, ..Session::default() });
        if let Some(usage) = usage.filter(|usage| !usage.is_empty()) {
            let model = self.state.facts.known().model.clone();
            self.events.push(DomainEvent::Usage { usage, model });
        }
    }

    fn error(&mut self, line: Error, unknown: &Fields<'_>) {
        let extra = self.unknown("error", unknown);
        // The line that follows for the same failure often has only "Exec failed": the first counts.
        let known = self.state.facts.known().outcome == Some(Outcome::Failed);
        let outcome_reason = (!known).then(|| line.message.clone());
        let outcome = Some(Outcome::Failed);
        let ended_at = self.at;
        self.learn(Session { outcome, outcome_reason, ended_at, ..Session::default() });
        let source = line.source.map(|source| ("source".to_owned(), Json::from(source)));
        let extra = extra.into_iter().chain(source).collect();
        self.say(NormalizedEntryType::ErrorMessage, line.message, None, extra);
    }
}

/// A completion may trim what the message said.
fn same_words(a: &Text, b: &Text) -> bool {
    a == b || a.decode().trim() == b.decode().trim()
}
