//! The pure core: lines of a rollout file in, domain events out.

use serde::{Deserialize, Serialize};
use tracing::trace;

use super::{
    echoes::{Channel, Echoes, Saying},
    event::{CompletedItem, Event},
    item::ResponseItem,
    line::{RolloutJson, RolloutLine},
    session::SessionState,
};
use crate::{
    conversation::{
        DomainEvent, Json, NormalizedEntryType, Session, Timestamp, ToolCalls, tool_calls::Limits,
    },
    executors::{
        codex::{AGENT, CodexResult},
        report,
        wire::Fields,
    },
    transduce::{Batch, Reducer},
};

/// Reduces the lines of Codex's rollout files.
///
/// - What is said on several channels counts once: the first time, whichever channel it is on.
/// - Only `user_message` is what the person typed. A `response_item` of the role `user` is shown as
///   such too, unless it is context that the program put there: that is a system message.
/// - Tokens are counted from the running total of the thread. Of a fork, the history that was copied
///   from its parent counts as conversation, but its tokens, turns and ends are the parent's.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodexRolloutReducer {
    limits: Limits,
}

impl CodexRolloutReducer {
    /// A reducer that holds at most as much as `limits` say.
    pub const fn with_limits(limits: Limits) -> Self {
        Self { limits }
    }
}

/// What the reducer remembers from one line to the next; boxed, because it moves in and out with each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodexRolloutState {
    pub(super) calls: ToolCalls<CodexResult>,
    pub(super) session: SessionState,
    pub(super) echoes: Echoes,
    /// How many calls there were that no line gave an id.
    pub(super) unnamed: u64,
}

impl CodexRolloutState {
    /// The calls that wait for their result, and the results that wait for their call.
    pub fn calls(&self) -> &ToolCalls<CodexResult> {
        &self.calls
    }
}

impl<'a> Reducer<RolloutLine<'a>, Box<CodexRolloutState>, DomainEvent> for CodexRolloutReducer {
    fn init(&self) -> Box<CodexRolloutState> {
        Box::default()
    }

    fn reduce(
        &self,
        mut state: Box<CodexRolloutState>,
        line: RolloutLine<'a>,
    ) -> (Box<CodexRolloutState>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        let at = line.timestamp;
        Step { limits: &self.limits, state: &mut state, events: &mut events, at }.reduce(line);
        trace!(open_calls = state.calls.open_calls(), events = events.len(), "line reduced");
        (state, events)
    }

    fn finish(
        &self,
        mut state: Box<CodexRolloutState>,
    ) -> (Box<CodexRolloutState>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        state.calls.finish(&mut events);
        (state, events)
    }
}

/// One line on its way through the reducer.
pub(super) struct Step<'s> {
    pub(super) limits: &'s Limits,
    pub(super) state: &'s mut CodexRolloutState,
    pub(super) events: &'s mut Batch<DomainEvent>,
    pub(super) at: Option<Timestamp>,
}

impl Step<'_> {
    fn reduce(&mut self, line: RolloutLine<'_>) {
        let RolloutLine { json, name, unknown, timestamp: _ } = line;
        match json {
            RolloutJson::Irregular(irregular) => report::irregular(&irregular, self.events),
            RolloutJson::Foreign if name.is_empty() => {
                report::untyped(&unknown, self.at, self.events);
            }
            RolloutJson::Foreign => {
                report::foreign_record(&name, &unknown, self.at, self.events);
            }
            RolloutJson::Unknown => {
                report::unknown_event(&name, &unknown, self.at, self.events);
            }
            RolloutJson::SessionMeta(meta) => {
                self.report(&name, &unknown);
                self.session_meta(*meta);
            }
            RolloutJson::TurnContext(context) => {
                self.begin(&name, &unknown);
                self.settings(context);
            }
            RolloutJson::ResponseItem(item) => {
                let extra = self.begin(&name, &unknown);
                self.response_item(item, extra);
            }
            RolloutJson::Event(event) => {
                let extra = self.begin(&name, &unknown);
                self.event(event, extra);
            }
            RolloutJson::Compacted(summary) => {
                self.begin(&name, &unknown);
                self.compacted(Channel::Item, summary);
            }
            RolloutJson::Nothing => {
                self.begin(&name, &unknown);
            }
        }
    }

    /// Every line but the first: a file may be cut at its beginning.
    fn begin(&mut self, name: &str, unknown: &Fields<'_>) -> Vec<(String, Json)> {
        self.learn(Session::default());
        self.follow_replay();
        self.report(name, unknown)
    }

    fn response_item(&mut self, item: ResponseItem<'_>, extra: Vec<(String, Json)>) {
        match item {
            ResponseItem::Message(message) => self.message(message, extra),
            ResponseItem::Reasoning(thoughts) => self.thoughts(Channel::Item, thoughts),
            ResponseItem::Call(call) => self.call(call, extra),
            ResponseItem::Output(output) => self.output(output, extra),
            ResponseItem::Hosted(id, tool) => self.ended(Channel::Item, id, &tool, extra),
            ResponseItem::AgentMessage { author, recipient, content } => {
                self.between_agents(author, recipient, &content, extra);
            }
            ResponseItem::Nothing => {}
        }
    }

    fn event(&mut self, event: Event<'_>, extra: Vec<(String, Json)>) {
        match event {
            Event::TurnStarted => self.turn_started(),
            Event::TurnEnded(end) => self.turn_ended(end),
            Event::UserMessage { content, injected } => {
                self.user_message(Channel::Event, &content, injected, None, extra);
            }
            Event::AgentMessage(text) => {
                self.agent_message(Channel::Event, &text.into(), None, extra);
            }
            Event::Thought(text) => self.thoughts(Channel::Event, vec![text]),
            Event::TokenCount { total, last } => self.token_count(total, last),
            Event::Began(id, tool) => self.began(id, &tool, extra),
            Event::Ended(id, tool) => self.ended(Channel::Event, id, &tool, extra),
            Event::Completed(item, unknown) => {
                let extra = [extra, self.report("item_completed", &unknown)].concat();
                self.completed(item, extra);
            }
            Event::Error(message, fields) => {
                self.error(Channel::Event, message, [fields, extra].concat());
            }
            Event::Notice(text, fields) => {
                self.say(NormalizedEntryType::SystemMessage, text, None, [fields, extra].concat());
            }
            Event::Compacted => self.compacted(Channel::Event, Default::default()),
            Event::Title(title) => self.learn(Session { title, ..Session::default() }),
            Event::Settings(settings) => self.settings(settings),
        }
    }

    fn completed(&mut self, item: CompletedItem<'_>, extra: Vec<(String, Json)>) {
        let channel = Channel::Completed;
        match item {
            CompletedItem::User(content) => {
                self.user_message(channel, &content, false, None, extra);
            }
            CompletedItem::Agent(content) => self.agent_message(channel, &content, None, extra),
            CompletedItem::Thoughts(thoughts) => self.thoughts(channel, thoughts),
            CompletedItem::Tool(id, tool) => self.ended(channel, id, &tool, extra),
            CompletedItem::Unknown(name, item) => {
                report::unknown_block(&name, item, self.at, self.events);
            }
        }
    }

    pub(super) fn learn(&mut self, news: Session) {
        self.state.session.facts.learn(AGENT, news, self.events);
    }

    /// Whether this was said before on another channel.
    pub(super) fn is_echo(&mut self, saying: Saying, words: &str, channel: Channel) -> bool {
        self.state.echoes.is_echo(saying, words, channel)
    }

    fn report(&mut self, of: &str, fields: &Fields<'_>) -> Vec<(String, Json)> {
        report::unknown_fields(of, fields, self.events)
    }
}
