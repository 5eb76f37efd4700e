//! The wire types of rollout files: the line, and what is no conversation.
//!
//! Releases from 0.99 (February 2026) to 0.146 are covered, with the shapes of older ones that were
//! seen in newer files.

use super::{event::Event, item::ResponseItem, turn_context::TurnContext};
use crate::{
    conversation::{SessionId, Text, Timestamp},
    executors::{
        Header, Parsed,
        wire::{Object, value},
    },
    json::Raw,
};

/// One record of the file.
#[derive(Clone, Debug)]
pub enum RolloutJson<'a> {
    /// `session_meta`: the first line. Further ones are those of the sessions that it was forked from.
    SessionMeta(Box<SessionMeta>),
    /// `turn_context`: the settings of a turn.
    TurnContext(TurnContext),
    /// `response_item`: what the model was given, or gave.
    ResponseItem(ResponseItem<'a>),
    /// `event_msg`: what the program showed.
    Event(Event<'a>),
    /// `compacted`: the history was replaced by a summary.
    Compacted(Text),
    /// `world_state`, `inter_agent_communication_metadata`: nothing of the conversation.
    Nothing,
}

/// The session's facts.
#[derive(Clone, Debug, Default)]
pub struct SessionMeta {
    /// The thread's own id. (`session_id` is that of the thread it all began with.)
    pub id: Option<SessionId>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// The directory that the agent works in.
    pub cwd: Option<Text>,
    /// The branch there.
    pub branch: Option<Text>,
    /// Who serves the model.
    pub provider: Option<Text>,
    /// The agent's version.
    pub cli_version: Option<Text>,
    /// The session that started this one as a sub-agent, or that this one was forked from.
    pub parent: Option<SessionId>,
    /// Whether it begins with the history of another session.
    pub forked: bool,
}

impl<'a> RolloutJson<'a> {
    pub(super) fn parse(line: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let payload = line.get("payload").and_then(value::object);
        let (Some(mut payload), true) = (payload, is_known(&header.name)) else {
            // Every record of these files has a payload.
            let is_foreign = !is_known(&header.name) && !line.has("payload");
            return if is_foreign { Parsed::Foreign } else { Parsed::Unknown };
        };
        line.ignore(&["timestamp", "ordinal"]);
        let json = match &*header.name {
            "session_meta" => Self::SessionMeta(Box::new(SessionMeta::take(&mut payload))),
            "turn_context" => Self::TurnContext(TurnContext::take(&mut payload)),
            "compacted" => {
                let message = payload.text("message").unwrap_or_default();
                payload.ignore(&["replacement_history", "window_id", "window_number"]);
                payload.ignore(&["first_window_id", "previous_window_id"]);
                Self::Compacted(message)
            }
            name @ ("response_item" | "event_msg") => {
                let is_event = name == "event_msg";
                let kind = payload.str("type").unwrap_or_default();
                header.name = format!("{name}/{kind}").into();
                let read = match is_event {
                    true => Event::take(&kind, &mut payload).map(Self::Event),
                    false => ResponseItem::take(&kind, &mut payload).map(Self::ResponseItem),
                };
                let Some(json) = read else { return Parsed::Unknown };
                json
            }
            // `world_state` and the like: the program's own.
            _ => {
                payload = Object::default();
                Self::Nothing
            }
        };
        line.ignore(&["payload"]);
        line.adopt("", payload);
        Parsed::Line(json)
    }
}

/// Whether records of this type are known.
pub(super) fn is_known(name: &str) -> bool {
    let known = [
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "inter_agent_communication_metadata",
    ];
    known.contains(&name)
}

impl SessionMeta {
    fn take(payload: &mut Object<'_>) -> Self {
        let own_id = payload.str("id").or_else(|| payload.str("session_id"));
        let forked_from = payload.str("forked_from_id");
        let parent = payload.str("parent_thread_id");
        let spawned_by = payload.raw("source").and_then(parent_of_source);
        let meta = Self {
            id: own_id.map(SessionId::from),
            started_at: payload.timestamp("timestamp"),
            cwd: payload.text("cwd"),
            branch: payload.object("git").and_then(|mut git| git.text("branch")),
            provider: payload.text("model_provider"),
            cli_version: payload.text("cli_version"),
            forked: forked_from.is_some(),
            parent: parent.map(SessionId::from).or(spawned_by).or(forked_from.map(SessionId::from)),
        };
        // Instructions are nothing that anybody said; the rest is the program's own.
        payload.ignore(&["session_id", "timestamp", "originator", "git"]);
        payload.ignore(&["base_instructions", "instructions", "dynamic_tools", "memory_mode"]);
        payload.ignore(&["thread_source", "history_mode", "context_window"]);
        payload.ignore(&["agent_nickname", "agent_role", "agent_path", "multi_agent_version"]);
        meta
    }
}

/// `{subagent: {thread_spawn: {parent_thread_id}}}`; often only a word.
fn parent_of_source(source: Raw<'_>) -> Option<SessionId> {
    let mut subagent = value::object(source)?.object("subagent")?;
    subagent.object("thread_spawn")?.str("parent_thread_id").map(SessionId::from)
}
