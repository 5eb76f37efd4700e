//! The wire types of rollout files: lines, and records outside of the conversation.
//!
//! This covers releases from 0.99 (February 2026) to 0.159, and older forms that were observed in newer files.

use foldline_domain::Allowed;

use super::{
    event::Event,
    item::{AgentMessage, ResponseItem},
};
use crate::{codex::take_usage, prelude::*};

/// A line of the file.
#[derive(Clone, Debug)]
pub struct RolloutLine<'a> {
    /// The number of the record in its thread.
    pub ordinal: Option<u64>,
    pub json: RolloutJson<'a>,
}

/// One record of the file.
#[derive(Clone, Debug)]
pub enum RolloutJson<'a> {
    /// `session_meta`: the first line. Further ones describe the sessions from which it was forked.
    SessionMeta {
        facts: Box<Session>,
        /// Whether it begins with the history of another session.
        forked: bool,
        /// Whether items state what a person typed.
        is_paginated: bool,
        /// The number of the first record that is not copied from a parent.
        start: Option<u64>,
    },
    /// `turn_context`: the settings of a turn.
    TurnContext { turn_id: Option<Text>, settings: Box<Session> },
    /// `token_usage_record`: the usage of a response of the model.
    Usage(UsageRecord),
    /// `response_item`: input or output of the model.
    ResponseItem(ResponseItem<'a>),
    /// `event_msg`: output of the interface.
    Event(Event<'a>),
    /// `compacted`: the history was replaced by a summary.
    Compacted(Text),
    /// `inter_agent_communication`: repeats an `agent_message`, without encryption.
    BetweenAgents(AgentMessage),
    /// `world_state`, `security_risk_score`: not part of the conversation.
    Nothing,
}

/// The usage of a response of the model.
#[derive(Clone, Debug)]
pub struct UsageRecord {
    pub thread_id: Option<SessionId>,
    pub response_id: Option<Text>,
    pub turn_id: Option<Text>,
    pub usage: TokenUsage,
}

impl<'a> RolloutLine<'a> {
    pub(super) fn parse(line: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let payload = line.get("payload").and_then(value::object);
        let (Some(mut payload), true) = (payload, is_known(&header.name)) else {
            // Every record of these files has a payload.
            let is_foreign = !is_known(&header.name) && !line.has("payload");
            return if is_foreign { Parsed::Foreign } else { Parsed::Unknown };
        };
        line.ignore(&["timestamp"]);
        let ordinal = line.u64("ordinal");
        let json = match &*header.name {
            "session_meta" => RolloutJson::take_session_meta(&mut payload),
            "turn_context" => RolloutJson::TurnContext {
                turn_id: payload.text("turn_id"),
                settings: Box::new(take_turn_context(&mut payload)),
            },
            "token_usage_record" => {
                // Of the turn, and of the thread with the sessions from which it was forked.
                payload.ignore(&["turn_token_usage", "thread_token_usage"]);
                payload.ignore(&["session_id", "root_turn_id"]);
                RolloutJson::Usage(UsageRecord {
                    thread_id: payload.str("thread_id").map(SessionId::from),
                    response_id: payload.text("response_id"),
                    turn_id: payload.text("turn_id"),
                    usage: take_usage(&mut payload, "usage").unwrap_or_default(),
                })
            }
            "compacted" => {
                let message = payload.text("message").unwrap_or_default();
                payload.ignore(&["replacement_history", "window_id", "window_number"]);
                payload.ignore(&["first_window_id", "previous_window_id"]);
                // The usage record of the compaction's own request repeats.
                payload.ignore(&["compaction_response_id", "latest_token_usage_record"]);
                payload.ignore(&["guardian_history", "retained_context"]);
                RolloutJson::Compacted(message)
            }
            name @ ("response_item" | "event_msg") => {
                let is_event = name == "event_msg";
                let metadata = line.object("metadata").or_else(|| payload.object("metadata"));
                let is_inherited = metadata
                    .is_some_and(|mut stated| stated.bool("inherited_user_message") == Some(true));
                let kind = payload.str("type").unwrap_or_default();
                header.name = format!("{name}/{kind}").into();
                let read = match is_event {
                    true => Event::take(&kind, is_inherited, &mut payload).map(RolloutJson::Event),
                    false => {
                        let item = ResponseItem::take(&kind, is_inherited, &mut payload);
                        item.map(RolloutJson::ResponseItem)
                    }
                };
                let Some(json) = read else { return Parsed::Unknown };
                json
            }
            "inter_agent_communication" => {
                payload.ignore(&["other_recipients", "trigger_turn"]);
                RolloutJson::BetweenAgents(AgentMessage::take(&mut payload))
            }
            // `world_state` and similar records: internal data of the program.
            _ => {
                payload = Object::default();
                RolloutJson::Nothing
            }
        };
        line.ignore(&["payload"]);
        line.adopt("", payload);
        Parsed::Line(Self { ordinal, json })
    }
}

impl RolloutJson<'_> {
    fn take_session_meta(payload: &mut Object<'_>) -> Self {
        // `session_id` is the id of the first thread.
        let own_id = payload.str("id").or_else(|| payload.str("session_id"));
        let forked_from = payload.str("forked_from_id").map(SessionId::from);
        let parent = payload.str("parent_thread_id").map(SessionId::from);
        let spawned_by = payload.raw("source").and_then(parent_of_source);
        let base = payload.object("history_base");
        let forked = forked_from.is_some() || base.is_some();
        let is_page = base.is_some_and(|base| base.has("thread_id"));
        let start = payload.u64("subagent_history_start_ordinal");
        let is_paginated = payload.str("history_mode").is_some_and(|mode| mode == "paginated");
        let facts = Session {
            // A page without an original is a later part of the same thread.
            parent: parent
                .or(spawned_by)
                .map(Parent::of_agent)
                .or_else(|| forked_from.map(Parent::of_fork))
                .or_else(|| own_id.as_deref().filter(|_| is_page).map(Parent::of_continuation))
                .map(Box::new),
            session_id: own_id.map(SessionId::from),
            started_at: payload.timestamp("timestamp"),
            cwd: payload.text("cwd"),
            branch: payload.object("git").and_then(|mut git| git.text("branch")),
            provider: payload.text("model_provider"),
            version: payload.text("cli_version"),
            ..Session::default()
        };
        // Instructions are not messages; the rest is internal data of the program.
        payload.ignore(&["session_id", "timestamp", "originator", "git"]);
        payload.ignore(&["base_instructions", "instructions", "dynamic_tools", "memory_mode"]);
        payload.ignore(&["thread_source", "context_window"]);
        payload.ignore(&["history_base", "forked_from_ordinal_exclusive"]);
        payload.ignore(&["creator_account_id"]);
        payload.ignore(&["agent_nickname", "agent_role", "agent_path", "multi_agent_version"]);
        Self::SessionMeta { facts: Box::new(facts), forked, is_paginated, start }
    }
}

/// Whether this record type is known.
pub(super) fn is_known(name: &str) -> bool {
    let known = [
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "token_usage_record",
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "security_risk_score",
    ];
    known.contains(&name)
}

/// The approval policy and the sandbox, which are stated together.
fn take_authority(payload: &mut Object<'_>) -> Option<Authority> {
    let approval_policy = payload.text("approval_policy");
    // Folders and the network are details of the sandbox.
    let mut policy = payload.object("sandbox_policy").unwrap_or_default();
    let sandbox = policy.text("type").or_else(|| policy.text("mode"));
    let words = [&approval_policy, &sandbox].map(|words| words.as_ref().map(Text::decode));
    let allowed = match words.each_ref().map(Option::as_deref) {
        // It asks about all commands but those that only read.
        [Some("untrusted"), _] => Some(Allowed::Asking),
        [Some("never"), Some("read-only")] => Some(Allowed::Reading),
        [_, Some("read-only")] => Some(Allowed::Asking),
        [_, Some("workspace-write" | "external-sandbox")] => Some(Allowed::Sandbox),
        [_, Some("danger-full-access")] => Some(Allowed::Everything),
        _ => None,
    };
    let is_stated = approval_policy.is_some() || sandbox.is_some();
    is_stated.then(|| Authority { approval_policy, sandbox, allowed, ..Authority::default() })
}

fn take_turn_context(payload: &mut Object<'_>) -> Session {
    payload.ignore(&["root_turn_id", "summary", "personality", "current_date", "timezone"]);
    payload.ignore(&["user_instructions", "developer_instructions", "base_instructions"]);
    payload.ignore(&["approvals_reviewer"]);
    payload.ignore(&["permission_profile", "active_permission_profile", "network"]);
    payload.ignore(&["file_system_sandbox_policy", "workspace_roots", "truncation_policy"]);
    payload.ignore(&["collaboration_mode", "multi_agent_mode", "multi_agent_version"]);
    payload.ignore(&["realtime_active", "comp_hash", "final_output_json_schema"]);
    Session {
        cwd: payload.text("cwd"),
        model: payload.text("model"),
        reasoning_effort: payload.text("effort"),
        authority: take_authority(payload).map(Box::new),
        ..Session::default()
    }
}

/// `{subagent: {thread_spawn: {parent_thread_id}}}`; often only a word.
fn parent_of_source(source: Raw<'_>) -> Option<SessionId> {
    let mut subagent = value::object(source)?.object("subagent")?;
    subagent.object("thread_spawn")?.str("parent_thread_id").map(SessionId::from)
}
