//! The stream of `claude -p --output-format stream-json --verbose`.

mod outcome;
mod types;

use serde::{Deserialize, Serialize};

pub(super) use self::outcome::take_models;
use self::{
    outcome::{RunResult, RunUsage, outcome_of},
    types::ClaudeStreamJson,
};
use crate::{
    claude::{
        action_mapper,
        messages::{self, Cx, ToModel},
        result::ClaudeResult,
    },
    dialect::{
        anthropic::{Block, BlockKind, Message, PartialEvent},
        notice::kind_of_answer,
        streamed::Streamed,
    },
    prelude::*,
    recogniser::{is_tree_record, message},
};

/// `claude -p --output-format stream-json --verbose`, with or without `--include-partial-messages`.
///
/// The tokens of a run come from its `result`, by model: `modelUsage` includes sub-agents and helper models. They are
/// reported only then, because earlier lines have only early snapshots. A run without a `result` is counted by these
/// snapshots, once per message. A second `result` counts its increase over the first.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClaudeStream;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaudeStreamMemory {
    streamed: Streamed,
    usage: RunUsage,
    /// The message in progress, for its usage.
    writing: Option<Text>,
    /// The last message of the main conversation, which the result repeats.
    last_words: Option<Text>,
    /// The last emitted rate limit.
    rate_limit: Option<(Text, Option<Text>)>,
    /// Whether the context was compacted: the next message of the program is the summary.
    #[serde(default)]
    is_compacted: bool,
}

impl Executor for ClaudeStream {
    const FORMAT: Format = Format::new("claude-stream", "Claude Code, stream-json", "claude-code")
        .with_tested("2.1.281");
    type Line<'a> = ClaudeStreamJson<'a>;
    type Result = ClaudeResult;
    type Memory = ClaudeStreamMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        if is_tree_record(object) {
            return Evidence::None;
        }
        match &*object.get_str("type").unwrap_or_default() {
            "system" => {
                if is_own_system(object) {
                    Evidence::Certain
                } else {
                    Evidence::Possible
                }
            }
            "user" | "assistant" => spoken(object),
            "stream_event" => Evidence::possible_if(object.has("event")),
            "rate_limit_event" => Evidence::certain_if(object.has("rate_limit_info")),
            "result" => result(object),
            _ => Evidence::None,
        }
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str("session_id")
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<ClaudeStreamJson<'a>> {
        ClaudeStreamJson::parse(object, header)
    }

    fn line(&self, line: Self::Line<'_>, extra: Extra, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        match line {
            ClaudeStreamJson::Init(facts) => memory.init(*facts, cx),
            ClaudeStreamJson::Facts(facts) => cx.session(*facts),
            ClaudeStreamJson::TaskRuns(call) => {
                if let Some(call) = call {
                    cx.running(&call);
                }
            }
            // A sub-agent ends with its call's result; only background tasks end separately.
            ClaudeStreamJson::TaskEnded { call, status, summary } => {
                let is_open = call.is_some_and(|call| cx.calls().get(&call).is_some());
                if let Some(summary) = summary.filter(|_| !is_open) {
                    let status = status.unwrap_or_else(|| "ended".into());
                    messages::notice(format!("task {status}: {summary}"), cx);
                }
            }
            ClaudeStreamJson::Said(kind, text) => {
                memory.is_compacted |= kind == NormalizedEntryType::Compaction;
                cx.entry(kind, text, ());
            }
            ClaudeStreamJson::Assistant { message, is_error } => {
                memory.assistant(*message, is_error, extra, cx);
            }
            ClaudeStreamJson::User { message, detail, meta, from_program } => {
                let meta = meta.as_deref().unwrap_or_default();
                let by_program = from_program.then(|| memory.kind_of_program(cx));
                messages::user(*message, ToModel { by_program, detail, meta }, extra, cx);
            }
            ClaudeStreamJson::Result(result) => memory.result(*result, cx),
            ClaudeStreamJson::Partial(event) => memory.partial(event, cx),
            ClaudeStreamJson::RateLimit { status, kind, utilization, limits } => {
                cx.session(Session { limits: Some(limits), ..Session::default() });
                if let Some(status) = status {
                    memory.rate_limit(status, kind, utilization, cx);
                }
            }
        }
    }

    /// Ends a run without a `result`.
    fn end(&self, memory: &mut ClaudeStreamMemory, cx: &mut Cx<'_>) {
        memory.stop_writing(cx);
        let (used, at) = memory.usage.take_uncounted();
        for (model, usage) in used {
            cx.usage_at(at, model.or_else(|| cx.known().model.clone()), usage);
        }
    }
}

impl ClaudeStreamMemory {
    fn init(&mut self, mut facts: Session, cx: &mut Cx<'_>) {
        self.stop_writing(cx);
        self.usage.restart();
        let model = facts.model.take();
        cx.session(Session { started_at: cx.at, ..facts });
        messages::model(model, cx);
    }

    /// The kind of a message of the program in the user's name.
    fn kind_of_program(&mut self, cx: &Cx<'_>) -> NormalizedEntryType {
        match cx.parent.is_none() && std::mem::take(&mut self.is_compacted) {
            true => NormalizedEntryType::Continuation,
            false => NormalizedEntryType::SystemMessage,
        }
    }

    /// Ends the message in progress, which has no complete line.
    fn stop_writing(&mut self, cx: &mut Cx<'_>) {
        self.streamed.abandon(action_mapper::map, cx);
        self.writing = None;
    }

    fn assistant(&mut self, message: Message<'_>, is_error: bool, extra: Extra, cx: &mut Cx<'_>) {
        let synthetic = messages::is_synthetic(&message);
        let is_main = cx.parent.is_none();
        self.is_compacted &= !is_main;
        if is_main && !synthetic {
            messages::model(message.model.clone(), cx);
        }
        if let Some(usage) = message.usage {
            let (id, model) = (message.id.as_ref(), message.model.as_ref());
            match is_main {
                true => self.usage.note(id, usage, cx.at),
                false => self.usage.note_agent(id, model, usage, cx.at),
            }
        }
        for Block { kind, .. } in &message.content {
            match kind {
                BlockKind::Text(content) if is_main => {
                    self.last_words = Some(content.text.clone());
                }
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
        let streamed = &mut self.streamed;
        let claim = &mut |entry, cx: &mut Cx<'_>| streamed.claim(entry, cx);
        messages::assistant(message, &entry_type, extra, claim, cx);
    }

    fn partial(&mut self, event: PartialEvent<'_>, cx: &mut Cx<'_>) {
        if cx.parent.is_none() {
            match &event {
                PartialEvent::MessageStart(message) => {
                    self.writing = message.id.clone();
                    self.note_partial(message.usage, cx.at);
                }
                PartialEvent::MessageDelta(usage) => self.note_partial(*usage, cx.at),
                _ => {}
            }
        }
        self.streamed.read(event, action_mapper::map, cx);
    }

    /// Records the running total of the message in progress. Without an id, it would be counted again with the complete
    /// line.
    fn note_partial(&mut self, usage: Option<TokenUsage>, at: Option<Timestamp>) {
        if let (Some(id), Some(usage)) = (&self.writing, usage) {
            self.usage.note(Some(id), usage, at);
        }
    }

    fn rate_limit(
        &mut self,
        status: Text,
        kind: Option<Text>,
        utilization: Option<f64>,
        cx: &mut Cx<'_>,
    ) {
        let is_fine = status == "allowed";
        let shown = (status, kind);
        if is_fine || self.rate_limit.as_ref() == Some(&shown) {
            if is_fine {
                self.rate_limit = None;
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
        self.rate_limit = Some(shown);
        cx.entry(entry_type, text, ());
    }

    fn result(&mut self, mut result: RunResult<'_>, cx: &mut Cx<'_>) {
        self.stop_writing(cx);
        for denial in std::mem::take(&mut result.denials) {
            let denied = ClaudeResult::new(ToolStatus::Denied { reason: None }, cx.at)
                .with_body(Text::default());
            denial.end_call(action_mapper::map, denied, cx);
        }
        let outcome = outcome_of(&result);
        let entry_type = kind_of_answer(result.is_error.unwrap_or(false));
        if let Some(words) = result.result.take() {
            self.say_once(&entry_type, words, cx);
        }
        for error in std::mem::take(&mut result.errors) {
            self.say_once(&NormalizedEntryType::ErrorMessage, error, cx);
        }
        let session_id = cx.known().session_id.clone();
        let used = self.usage.settle(&result, session_id.as_ref());
        let RunResult { subtype, terminal_reason, turns, duration_ms, .. } = result;
        let subtype = subtype.filter(|subtype| *subtype != "success");
        let session = Session {
            outcome: Some(outcome),
            outcome_reason: terminal_reason.or(subtype),
            turns,
            duration_ms,
            ended_at: cx.at,
            ..Session::default()
        };
        cx.session(session);
        for (model, usage) in used {
            cx.usage_of(model.or_else(|| cx.known().model.clone()), usage);
        }
    }

    /// Emits a text unless it repeats the agent's last message.
    fn say_once(&mut self, entry_type: &NormalizedEntryType, words: Text, cx: &mut Cx<'_>) {
        let is_same = |said: &Text| *said == words || said.decode().trim() == words.decode().trim();
        if words.is_empty() || self.last_words.as_ref().is_some_and(is_same) {
            return;
        }
        cx.entry(entry_type.clone(), words.clone(), ());
        self.last_words = Some(words);
    }
}

/// Subtypes that only this agent uses.
const SUBTYPES: [&str; 8] = [
    "task_started",
    "task_updated",
    "task_notification",
    "thinking_tokens",
    "hook_started",
    "hook_response",
    "compact_boundary",
    "api_retry",
];

fn is_own_system(object: &Object<'_>) -> bool {
    match object.get_str("subtype").as_deref() {
        Some("init") => {
            object.has_any(&["claude_code_version", "output_style", "fast_mode_state"])
                || object.has_all(&["apiKeySource", "permissionMode"])
                    && object.has_any(&["tools", "uuid", "mcp_servers", "slash_commands", "agents"])
        }
        Some(subtype) => SUBTYPES.contains(&subtype),
        None => false,
    }
}

fn spoken(object: &Object<'_>) -> Evidence {
    const OWN: [&str; 6] = [
        "tool_use_result",
        "timestamp",
        "request_id",
        "wire_tool_inputs",
        "subagent_type",
        "is_api_error_message",
    ];
    let Some(message) = message(object) else { return Evidence::None };
    let is_own_id = message.get_str("id").is_some_and(|id| id.starts_with("msg_"));
    if is_own_id || object.has_any(&OWN) { Evidence::Certain } else { Evidence::Possible }
}

fn result(object: &Object<'_>) -> Evidence {
    const OWN: [&str; 4] = ["total_cost_usd", "modelUsage", "terminal_reason", "fast_mode_state"];
    if object.has_any(&OWN) {
        return Evidence::Certain;
    }
    Evidence::possible_if(object.has_any(&["uuid", "duration_api_ms"]))
}
