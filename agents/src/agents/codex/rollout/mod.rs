//! Codex's rollout files: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.
//!
//! The files repeat content up to three times: in a `response_item` (input and output of the model), in an `event_msg`
//! (output of the interface), and in the newest releases in an `item_completed`. The release, and the position of a
//! cut, determine which of them are present. So the first one counts, and its echoes are skipped
//! ([`Echoes`](echoes::Echoes)).

mod calls;
mod echoes;
mod event;
mod item;
mod limits;
mod line;
mod messages;
mod prompts;
mod session;

use self::{
    echoes::Channel,
    event::{CompletedItem, Event},
    item::{Call, ResponseItem},
    line::{RolloutJson, RolloutLine, is_known},
    session::{CodexRolloutMemory, Step},
};
use crate::{
    codex::{AGENT, result::CodexResult},
    prelude::*,
};

/// Codex's rollout files.
///
/// - Content on several channels counts once, where it appears first.
/// - Only `user_message` is certain to be typed by the user. A `response_item` of the role `user` is also a user
///   message, unless it is context that the program added, which is a system message.
/// - Tokens are those of each response, and in older releases the growth of the thread's running total. In a fork, the history copied from the parent is part of
///   the conversation, but its tokens, turns and ends belong to the parent.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodexRollout;

type Cx<'s> = Context<'s, CodexResult>;

impl Executor for CodexRollout {
    const FORMAT: Format = Format::new("codex-rollout", "Codex CLI, rollout file", AGENT)
        .with_tested("0.159.2")
        .with_homes(&[
            "${CODEX_HOME:-~/.codex}/sessions",
            "${CODEX_HOME:-~/.codex}/archived_sessions",
        ]);
    type Line<'a> = RolloutLine<'a>;
    type Result = CodexResult;
    type Memory = CodexRolloutMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let kind = object.get_str("type").unwrap_or_default();
        Evidence::certain_if(is_known(&kind) && object.has("payload"))
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<RolloutLine<'a>> {
        RolloutLine::parse(object, header)
    }

    fn line(&self, line: Self::Line<'_>, extra: Extra, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        let mut step = Step { memory, cx };
        if !line.json.is_prompt() && !self.is_ignored(&line) {
            step.release(usize::MAX);
        }
        let RolloutLine { ordinal, json: line } = line;
        if let RolloutJson::SessionMeta { facts, forked, is_paginated, start } = line {
            step.memory.states_prompts |= is_paginated;
            return step.session_meta(*facts, forked, start);
        }
        step.follow_replay(ordinal);
        match line {
            RolloutJson::TurnContext { turn_id, settings } => step.turn_context(turn_id, *settings),
            RolloutJson::Usage(record) => step.usage_record(record),
            RolloutJson::ResponseItem(item) => step.response_item(item, extra),
            RolloutJson::Event(event) => step.event(event, extra),
            RolloutJson::BetweenAgents(message) => {
                step.between_agents(Channel::Event, message, extra);
            }
            RolloutJson::Compacted(summary) => step.compacted(Channel::Item, summary),
            RolloutJson::Nothing | RolloutJson::SessionMeta { .. } => {}
        }
    }

    fn end(&self, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        Step { memory, cx }.release(usize::MAX);
    }

    fn is_ignored(&self, line: &RolloutLine<'_>) -> bool {
        match &line.json {
            RolloutJson::ResponseItem(ResponseItem::Nothing) | RolloutJson::Nothing => true,
            // The thought is encrypted.
            RolloutJson::ResponseItem(ResponseItem::Reasoning(_, thoughts)) => thoughts.is_empty(),
            RolloutJson::Event(Event::TokenCount { total, last, limits }) => {
                total.is_none() && last.is_none() && limits.is_empty()
            }
            _ => false,
        }
    }
}

impl RolloutJson<'_> {
    /// Whether this is a message with the role of the user.
    fn is_prompt(&self) -> bool {
        match self {
            Self::ResponseItem(ResponseItem::Message(message)) => message.role == "user",
            Self::Event(event) => {
                matches!(event, Event::UserMessage(_) | Event::Completed(CompletedItem::User(_), _))
            }
            _ => false,
        }
    }
}

impl Step<'_, '_> {
    fn response_item(&mut self, item: ResponseItem<'_>, extra: Extra) {
        match item {
            ResponseItem::Message(message) => self.message(message, extra),
            ResponseItem::Reasoning(id, thoughts) => self.thoughts(Channel::Item, id, thoughts),
            ResponseItem::Call(call) => self.call(Channel::Item, call, extra),
            ResponseItem::Output(output) => self.output(Channel::Item, output, extra),
            ResponseItem::Hosted(id, tool) => self.ended(Channel::Item, id, &tool, extra),
            ResponseItem::AgentMessage(message) => {
                self.between_agents(Channel::Item, message, extra);
            }
            ResponseItem::Nothing => {}
        }
    }

    fn event(&mut self, event: Event<'_>, extra: Extra) {
        match event {
            Event::TurnStarted => self.turn_started(),
            Event::TurnEnded(end) => self.turn_ended(end),
            Event::UserMessage(prompt) => self.user_message(Channel::Event, prompt, extra),
            Event::AgentMessage(text) => {
                self.agent_message(Channel::Event, &text.into(), None, extra);
            }
            Event::Thought(text) => self.thoughts(Channel::Event, None, vec![text]),
            Event::TokenCount { total, last, limits } => {
                self.limits(limits);
                self.token_count(total, last);
            }
            Event::Began(id, tool) => self.began(id, &tool, extra),
            Event::Ended(id, tool) => self.ended(Channel::Event, id, &tool, extra),
            Event::Completed(item, unknown) => {
                let more = self.cx.unknown_fields("item_completed", &unknown);
                let extra = [extra, more].concat();
                self.completed(item, extra);
            }
            Event::Error(message, fields) => {
                self.error(Channel::Event, message, [fields, extra].concat());
            }
            Event::Notice(text, fields) => {
                self.notice(Channel::Event, text, [fields, extra].concat());
            }
            Event::Compacted => self.compacted(Channel::Event, Default::default()),
            Event::Title(title) => self.cx.session(Session { title, ..Session::default() }),
            Event::Settings(settings, terms) => {
                self.memory.session.terms = terms;
                self.cx.session(*settings);
            }
        }
    }

    fn completed(&mut self, item: CompletedItem<'_>, extra: Extra) {
        let channel = Channel::Completed;
        match item {
            CompletedItem::User(prompt) => self.user_message(channel, prompt, extra),
            CompletedItem::Agent(id, content) => self.agent_message(channel, &content, id, extra),
            CompletedItem::Thoughts(id, thoughts) => self.thoughts(channel, id, thoughts),
            CompletedItem::Output(tool, output) => {
                let is_known = output.id.as_ref().is_some_and(|id| self.cx.calls().knows(id));
                if !is_known {
                    let (id, name) = (output.id.clone(), tool.into());
                    self.call(channel, Call { id, name, ..Call::default() }, Vec::new());
                }
                self.output(channel, output, extra);
            }
            CompletedItem::Compaction => self.compacted(channel, Text::default()),
            CompletedItem::Notice(text, fields) => {
                self.notice(channel, text, [fields, extra].concat());
            }
            CompletedItem::Tool(id, tool) => self.ended(channel, id, &tool, extra),
            CompletedItem::Unknown(name, item) => {
                self.cx.unknown_block(&name, item);
            }
        }
    }
}
