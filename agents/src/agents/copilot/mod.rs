//! GitHub's Copilot CLI: the events of a session, from `~/.copilot/session-state/<session>/events.jsonl` or `copilot
//! --output-format json`.
//!
//! Newer releases keep a row for each request in a database of all sessions, `~/.copilot/session-store.db`. It is written at
//! once, so that it has the tokens of a session that was killed. Its other tables repeat the events.

mod action_mapper;
#[cfg(feature = "databases")]
mod source;
mod types;

use std::{mem, sync::Arc};

use foldline::source::Opener;
use foldline_domain::Digest;
use serde::{Deserialize, Serialize};

#[cfg(feature = "databases")]
pub use self::source::CopilotSource;
use self::types::{Call, Complete, Event, Message};
use crate::{
    dialect::{
        notice,
        recent_map::RecentMap,
        streamed::Streamed,
        textual_result::{self, TextualResult},
        usage::RunUsage,
    },
    prelude::*,
};

/// The events of a Copilot session.
///
/// - A call has three events with the same id: a message requests it, then it begins, then it ends. A permission is
///   requested before the message.
/// - Messages state their output tokens. The end of the program states the tokens of all models.
/// - Where the database has requests of a session, they are all of its tokens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copilot;

/// The type of the line which says that lines of the database follow.
const STORE: &str = "usage_store.opened";

/// The type of a line with a request of the database.
const STORED: &str = "usage_store.request";

/// The maximum number of denied calls that are remembered.
const REMEMBERED: usize = 256;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CopilotMemory {
    streamed: Streamed,
    usage: RunUsage,
    /// Whether the database states the usage.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_stored: bool,
    /// The system prompt, which is repeated after a compaction.
    prompt: Option<Digest>,
    /// The last thought, which the message may repeat.
    last_thought: Option<Text>,
    /// The denied calls.
    denied: RecentIds,
    /// The calls that started sub-agents.
    agents: RecentMap<CorrId, CorrId>,
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for Copilot {
    const FORMAT: Format = Format::new("copilot", "GitHub Copilot CLI, session events", "copilot")
        .with_tested("1.0.80")
        .with_homes(&["~/.copilot/session-state"])
        .with_no_logs(&["session-store.db"]);
    type Line<'a> = Event<'a>;
    type Result = TextualResult;
    type Memory = CopilotMemory;

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        vec![
            #[cfg(feature = "databases")]
            Arc::new(CopilotSource),
        ]
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let kind = object.get_str("type").unwrap_or_default();
        let is_event = kind.contains('.') || kind == "abort";
        Evidence::certain_if(is_event && object.has_all(&["data", "id", "parentId", "timestamp"]))
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Event<'a>> {
        Event::parse(object, header)
    }

    fn line(&self, line: Event<'_>, extra: Extra, memory: &mut CopilotMemory, cx: &mut Cx<'_>) {
        let agent = cx.parent.clone();
        let starter = agent.as_ref().and_then(|agent| memory.agents.get(agent)).cloned();
        cx.parent = starter.or(cx.parent.take());
        match line {
            Event::Session(session) => cx.session(session),
            Event::Said(said, (model, usage)) => {
                notice::say(said, extra, cx);
                if memory.is_stored {
                    return;
                }
                // The totals at the end of the program exclude this usage.
                cx.usage_of(model.or_else(|| cx.known().model.clone()), usage);
            }
            Event::Prompt(text) => memory.prompt(text, extra, cx),
            Event::Message(message) => memory.message(message, extra, cx),
            Event::Thought(id, text) => {
                memory.last_thought = Some(text.clone());
                memory.show(NormalizedEntryType::Thinking, text, (id, extra).into(), cx);
            }
            Event::Delta { id, is_thought, more } => {
                memory.streamed.piece(&id, 0, is_thought, &more, cx);
            }
            Event::Start(call) => {
                let id = call.id.clone();
                tell(call, extra.into(), cx);
                if let Some(id) = id {
                    cx.running(&id);
                }
            }
            Event::Complete(line) => memory.complete(line, extra, cx),
            Event::Denied(id, feedback) => {
                memory.denied.insert(id, REMEMBERED);
                if let Some(feedback) = feedback {
                    cx.entry(NormalizedEntryType::UserMessage, feedback, extra);
                }
            }
            Event::SubAgent(id) => memory.agents.push(agent, id),
            Event::Quiet => {}
            Event::Store => memory.is_stored = true,
            Event::Stored(id, (model, usage)) => {
                let session = cx.known().session_id.as_ref();
                let id = session.zip(id).map(|(session, id)| Text::from(format!("{session}/{id}")));
                cx.usage_of_message(id, model, usage);
            }
            Event::Usage(_) if memory.is_stored => {}
            Event::Usage((model, usage)) => {
                let usage = memory.usage.count(model.as_ref(), usage);
                cx.usage_of(model, usage);
            }
            Event::Shutdown(session, usages, totals) => {
                if !totals.is_empty() {
                    cx.entry(NormalizedEntryType::SystemMessage, "session ended", totals);
                }
                cx.session(Session { ended_at: cx.at, ..session });
                let usages =
                    if memory.is_stored { Vec::new() } else { memory.usage.settle(usages) };
                for (model, usage) in usages {
                    cx.usage_of(model, usage);
                }
            }
        }
    }

    fn is_ignored(&self, line: &Event<'_>) -> bool {
        matches!(line, Event::Store)
    }

    fn end(&self, memory: &mut CopilotMemory, cx: &mut Cx<'_>) {
        memory.streamed.abandon(action_mapper::map, cx);
    }
}

impl CopilotMemory {
    fn prompt(&mut self, text: Text, extra: Extra, cx: &mut Cx<'_>) {
        let digest = Digest::of(text.decode().as_bytes());
        if self.prompt.replace(digest) != Some(digest) {
            cx.entry(NormalizedEntryType::SystemMessage, text, extra);
        }
    }

    fn message(&mut self, message: Message<'_>, extra: Extra, cx: &mut Cx<'_>) {
        let Message { id, model, reasoning, content, calls, usage } = message;
        let used_by = model.clone().or_else(|| cx.known().model.clone());
        let usage = if self.is_stored { TokenUsage::default() } else { usage };
        if let Some(usage) = self.usage.note(used_by.as_ref(), usage) {
            cx.usage_of_message(id.clone(), used_by, usage);
        }
        if cx.known().model.is_none() && cx.parent.is_none() {
            cx.session(Session { model: model.clone(), ..Session::default() });
        }
        let model = model.filter(|model| cx.known().model.as_ref() != Some(model));
        let mut meta = Meta { message_id: id, model, extra };
        // Several messages of one answer repeat its thought.
        let last_thought = mem::replace(&mut self.last_thought, reasoning.clone());
        if let Some(text) = reasoning.filter(|text| last_thought.as_ref() != Some(text)) {
            self.show(NormalizedEntryType::Thinking, text, meta.next(), cx);
        }
        if !content.is_empty() {
            self.show(NormalizedEntryType::AssistantMessage, content, meta.next(), cx);
        }
        for call in calls {
            tell(call, meta.next(), cx);
        }
    }

    /// Emits a whole text, possibly after its chunks.
    fn show(&mut self, kind: NormalizedEntryType, text: Text, meta: Meta, cx: &mut Cx<'_>) {
        let entry = cx.draft(kind, text, meta);
        self.streamed.say(entry, cx);
    }

    fn complete(&mut self, line: Complete<'_>, extra: Extra, cx: &mut Cx<'_>) {
        let Complete { call, has_failed, is_denied, content, detail, files, error, facts } = line;
        let is_denied = is_denied || call.as_ref().is_some_and(|call| self.denied.contains(call));
        let reason = error.clone().or(content.clone());
        let status = textual_result::status(has_failed, is_denied, reason);
        let mut extra: Extra = facts.into_iter().chain(extra).collect();
        let mut lines: Vec<Content> = content.into_iter().chain(error).map(Content::from).collect();
        lines.dedup();
        if let Some(files) = files {
            let (files, more) = cx.content("binaryResultsForLlm", files);
            lines.extend(Some(files).filter(|files| !files.is_empty()));
            extra.extend(more);
        }
        let body = Content::lines(lines);
        let result = TextualResult::new(status, cx.at).with_content(body).with_extra(extra);
        cx.result(call, result.with_detail(detail));
    }
}

/// Reports a call: for the message that requests it, and again when it begins, possibly with other arguments.
fn tell(call: Call<'_>, mut meta: Meta, cx: &mut Cx<'_>) {
    let mut mapped = action_mapper::map(&call.name, call.arguments, cx.cwd().as_deref());
    mapped.unknown &= !call.facts.iter().any(|(name, _)| name == "mcpServerName");
    meta.extra.extend(call.facts);
    cx.call_again(call.id, &call.name, mapped, meta);
}
