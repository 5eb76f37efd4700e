//! The pure core: lines of a Droid session file in, domain events out.

use serde::{Deserialize, Serialize};
use tracing::trace;

use super::types::{SessionBlock, SessionJson, SessionLine, SessionMessage, SessionStart};
use crate::{
    conversation::{
        DomainEvent, Json, NormalizedEntry, NormalizedEntryType, Outcome, Session, Text, Timestamp,
        ToolCalls,
        tool_calls::{Limits, ResultKey},
    },
    executors::{
        droid::{DroidResult, action_mapper},
        facts::Facts,
        report,
        wire::Fields,
    },
    transduce::{Batch, Reducer},
};

/// How the session's facts name the agent.
const AGENT: &str = "droid";

/// Reduces the lines of Droid's session files.
#[derive(Clone, Copy, Debug, Default)]
pub struct DroidSessionReducer {
    limits: Limits,
}

impl DroidSessionReducer {
    /// A reducer that holds at most as much as `limits` say.
    pub const fn with_limits(limits: Limits) -> Self {
        Self { limits }
    }
}

/// What the reducer remembers from one line to the next; boxed, because it moves in and out with each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DroidSessionState {
    calls: ToolCalls<DroidResult>,
    facts: Facts,
}

impl DroidSessionState {
    /// The calls that wait for their result, and the results that wait for their call.
    pub fn calls(&self) -> &ToolCalls<DroidResult> {
        &self.calls
    }
}

impl<'a> Reducer<SessionLine<'a>, Box<DroidSessionState>, DomainEvent> for DroidSessionReducer {
    fn init(&self) -> Box<DroidSessionState> {
        Box::default()
    }

    fn reduce(
        &self,
        mut state: Box<DroidSessionState>,
        line: SessionLine<'a>,
    ) -> (Box<DroidSessionState>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        let at = line.timestamp;
        Step { limits: &self.limits, state: &mut state, events: &mut events, at }.reduce(line);
        trace!(open_calls = state.calls.open_calls(), events = events.len(), "line reduced");
        (state, events)
    }

    fn finish(
        &self,
        mut state: Box<DroidSessionState>,
    ) -> (Box<DroidSessionState>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        state.calls.finish(&mut events);
        (state, events)
    }
}

/// One line on its way through the reducer.
struct Step<'s> {
    limits: &'s Limits,
    state: &'s mut DroidSessionState,
    events: &'s mut Batch<DomainEvent>,
    at: Option<Timestamp>,
}

impl Step<'_> {
    fn reduce(&mut self, line: SessionLine<'_>) {
        let SessionLine { json, unknown, timestamp: _ } = line;
        match json {
            SessionJson::Start(start) => {
                self.unknown("session_start", &unknown);
                self.start(start);
            }
            SessionJson::Message(message) => {
                let extra = self.unknown("message", &unknown);
                self.message(message, &extra);
            }
            SessionJson::TodoState => {
                self.unknown("todo_state", &unknown);
            }
            SessionJson::Compaction(summary) => {
                let extra = self.unknown("compaction_state", &unknown);
                let content = format!("context compacted\n{summary}");
                let kind = NormalizedEntryType::SystemMessage;
                self.say(kind, content.trim_end().into(), None, extra);
            }
            SessionJson::TurnOutcome(word, fields) => self.ended("turn", word, fields),
            SessionJson::End(word, fields) => self.ended("session", word, fields),
            SessionJson::Foreign(name) => {
                report::foreign_record(&name, &unknown, self.at, self.events);
            }
            SessionJson::Unknown(name) if name.is_empty() => {
                report::untyped(&unknown, self.at, self.events);
            }
            SessionJson::Unknown(name) => {
                report::unknown_event(&name, &unknown, self.at, self.events);
            }
            SessionJson::Irregular(irregular) => report::irregular(&irregular, self.events),
        }
    }

    fn unknown(&mut self, of: &str, fields: &Fields<'_>) -> Vec<(String, Json)> {
        self.learn(Session::default());
        report::unknown_fields(of, fields, self.events)
    }

    fn learn(&mut self, news: Session) {
        self.state.facts.learn(AGENT, news, self.events);
    }

    fn say(
        &mut self,
        entry_type: NormalizedEntryType,
        content: Text,
        message_id: Option<Text>,
        extra: Vec<(String, Json)>,
    ) {
        let entry = NormalizedEntry::new(entry_type, content).at(self.at);
        self.events.push(DomainEvent::entry(with_metadata(entry, message_id, extra)));
    }

    fn start(&mut self, start: SessionStart) {
        let SessionStart { id, title, cwd, parent } = start;
        self.learn(Session {
            session_id: id,
            title,
            cwd,
            parent_session_id: parent,
            started_at: self.at,
            ..Session::default()
        });
    }

    fn message(&mut self, message: SessionMessage<'_>, extra: &[(String, Json)]) {
        let SessionMessage { id, role, hidden, model, reasoning_effort, blocks } = message;
        let news = Session { model, reasoning_effort, ..Session::default() };
        self.state.facts.learn_model(AGENT, news, self.at, self.events);
        for block in blocks {
            let (id, extra) = (id.clone(), extra.to_vec());
            match block {
                SessionBlock::Text(text) => {
                    let kind = match &*role {
                        _ if hidden => NormalizedEntryType::SystemMessage,
                        "assistant" => NormalizedEntryType::AssistantMessage,
                        "user" if !is_reminder(&text) => NormalizedEntryType::UserMessage,
                        _ => NormalizedEntryType::SystemMessage,
                    };
                    self.say(kind, text, id, extra);
                }
                SessionBlock::Thinking(thought) if thought.is_empty() => {}
                SessionBlock::Thinking(thought) => {
                    self.say(NormalizedEntryType::Thinking, thought, id, extra);
                }
                SessionBlock::ToolUse { id: call_id, name, input } => {
                    let cwd = self.state.facts.cwd();
                    let call = action_mapper::map(&name, input, cwd.as_deref());
                    if call.unknown {
                        let sample = input.map(Json::from);
                        report::unknown_tool(&name, sample.as_ref(), self.events);
                    }
                    let entry = with_metadata(call.into_entry(&name).at(self.at), id, extra);
                    self.state.calls.call(call_id, entry, self.limits, self.events);
                }
                SessionBlock::ToolResult { id: call_id, content, is_error } => {
                    for (name, block) in &content.unknown {
                        report::unknown_block(name, block.clone(), self.at, self.events);
                    }
                    let result = DroidResult::of_text(is_error, content.text(), self.at);
                    let key = ResultKey { id: call_id, ..ResultKey::default() };
                    self.state.calls.result(key, result, self.limits, self.events);
                }
                SessionBlock::Nothing => {}
                SessionBlock::Unknown(name, block) => {
                    report::unknown_block(&name, block, self.at, self.events);
                }
            }
        }
    }

    fn ended(&mut self, what: &str, word: Option<Text>, fields: Vec<(String, Json)>) {
        let outcome = word.as_ref().and_then(|word| outcome_of(&word.decode()));
        let ended_at = self.at;
        let news =
            Session { outcome, outcome_reason: word.clone(), ended_at, ..Session::default() };
        self.learn(news);
        let content = match word {
            Some(word) => format!("{what} ended: {word}"),
            None => format!("{what} ended"),
        };
        self.say(NormalizedEntryType::SystemMessage, content.into(), None, fields);
    }
}

fn with_metadata(
    mut entry: NormalizedEntry,
    message_id: Option<Text>,
    extra: Vec<(String, Json)>,
) -> NormalizedEntry {
    if message_id.is_some() || !extra.is_empty() {
        let metadata = entry.metadata_mut();
        metadata.message_id = message_id;
        metadata.extra.extend(extra);
    }
    entry
}

/// What the program tells the model in the person's name.
fn is_reminder(text: &Text) -> bool {
    let text = text.decode();
    let text = text.trim();
    text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>")
}

fn outcome_of(word: &str) -> Option<Outcome> {
    Some(match word {
        "success" | "completed" | "complete" | "done" => Outcome::Success,
        "error" | "failed" | "failure" => Outcome::Failed,
        "cancelled" | "canceled" | "aborted" | "interrupted" => Outcome::Cancelled,
        word if word.contains("limit") => Outcome::LimitReached,
        _ => return None,
    })
}
