//! `droid exec --input-format stream-jsonrpc --output-format stream-jsonrpc`: messages between a client and Droid, in
//! one or both directions.

mod totals;
mod types;

use foldline_domain::Digest;
use serde::{Deserialize, Serialize};

use self::{
    totals::{Children, Total},
    types::{Kind, Line, Turn},
};
use crate::{
    dialect::{
        anthropic::{BlockKind, ToolResult, ToolUse},
        notice, permission,
        recent_map::RecentMap,
        streamed::Streamed,
    },
    droid::{action_mapper, message::BlockMessage, result::DroidResult, types::take_usage},
    prelude::*,
};

/// `droid exec` with the output format `stream-jsonrpc`.
///
/// - Messages appear in chunks and then as a whole, calls and results alone and then in a message. A loaded session
///   replays its history. Repeated content is skipped.
/// - A sub-agent is a separate session. Its messages are attributed to the call that started it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DroidJsonrpc;

/// The number of emitted blocks that are remembered.
const REMEMBERED: usize = 512;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DroidJsonrpcMemory {
    streamed: Streamed,
    /// The calls for which Droid requests a permission.
    asked: RecentMap<Json, Vec<CorrId>>,
    /// The requests of the client whose responses are ignored.
    quiet: RecentMap<Json, ()>,
    /// The calls that started sub-agents, by session.
    children: RecentMap<Text, CorrId>,
    /// The calls whose sub-agents have their own messages.
    speaking: RecentIds,
    /// The digests of emitted blocks.
    told: RecentIds,
    /// The user's last prompt, which a message repeats.
    prompt: Option<Text>,
    /// The error of this turn.
    error: Option<Text>,
    used: Total,
    used_by_children: Children,
    turns: u64,
    duration_ms: u64,
}

type Cx<'s> = Context<'s, DroidResult>;

impl Executor for DroidJsonrpc {
    const FORMAT: Format = Format::new("droid-jsonrpc", "Factory Droid, stream-jsonrpc", "droid");
    type Line<'a> = Line<'a>;
    type Result = DroidResult;
    type Memory = DroidJsonrpcMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        if !object.has("jsonrpc") {
            return Evidence::None;
        }
        let method = object.get_str("method").unwrap_or_default();
        let versioned = object.has_any(&["factoryApiVersion", "factoryProtocolVersion"]);
        if versioned || method.starts_with("droid.") {
            Evidence::Certain
        } else {
            Evidence::Possible
        }
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Line<'a>> {
        types::parse(object, header)
    }

    fn line(&self, line: Line<'_>, extra: Extra, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        let Line { id, session, kind } = line;
        if let Some(session) = &session {
            memory.enter(session, cx);
        }
        match kind {
            Kind::Response(given) => memory.response(id.as_ref(), given, cx),
            Kind::Quiet => memory.quiet.push(id, ()),
            Kind::Facts(facts) => cx.session(facts),
            Kind::Prompt(content) => {
                memory.quiet.push(id, ());
                memory.prompt = Some(content.text.clone());
                cx.entry(NormalizedEntryType::UserMessage, content, extra);
            }
            Kind::Permission(calls) => {
                let ids = calls.message.content.iter().filter_map(|block| match &block.kind {
                    BlockKind::ToolUse(call) => call.id.clone(),
                    _ => None,
                });
                let ids: Vec<_> = ids.collect();
                memory.message(calls, Extra::new(), cx);
                ids.iter().for_each(|id| permission::ask(id, cx));
                memory.asked.push(id, ids);
            }
            Kind::Resolved(calls, word) => answer(&calls, &word, cx),
            Kind::Question(call, input) => {
                if !cx.calls().knows(&call) {
                    let mapped = action_mapper::map("AskUser", input, None);
                    cx.call(Some(call), "AskUser", mapped, extra);
                }
            }
            Kind::Message(message, of_hook) => {
                let is_hook = message.message.content.is_empty() && !of_hook.is_empty();
                let extra = of_hook.into_iter().chain(extra).collect();
                match is_hook {
                    true => cx.entry(NormalizedEntryType::SystemMessage, "hook", extra),
                    false => memory.message(message, extra, cx),
                }
            }
            Kind::Delta { message_id, index, is_thought, more } => {
                memory.streamed.piece(&message_id, index, is_thought, &more, cx);
            }
            Kind::Running(call) => cx.running(&call),
            Kind::Progress(call, session, said) => {
                memory.children.push(session, call.clone());
                if !memory.speaking.contains(&call) {
                    cx.parent = Some(call);
                    said.into_iter().for_each(|said| notice::say(said, Extra::new(), cx));
                }
            }
            Kind::Child(session, call) => memory.children.push(Some(session), call),
            Kind::Usage(total, inclusive) => memory.used(session.as_ref(), total, inclusive, cx),
            Kind::Turn(turn) => memory.end_turn(session.as_ref(), turn, cx),
            Kind::Error(said) => {
                memory.error = Some(said.1.text.clone());
                notice::say(said, extra, cx);
            }
            Kind::Said(said) => notice::say(said, extra, cx),
        }
    }

    fn is_ignored(&self, line: &Line<'_>) -> bool {
        matches!(line.kind, Kind::Quiet)
    }

    fn end(&self, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        memory.streamed.abandon(action_mapper::map, cx);
    }
}

/// Answers the permission requests of calls.
fn answer(calls: &[CorrId], word: &Text, cx: &mut Cx<'_>) {
    for call in calls {
        let tool = cx.calls().get(call).and_then(NormalizedEntry::tool);
        if tool.is_some_and(|tool| tool.status == ToolStatus::PendingApproval) {
            permission::answer(call, word.clone(), cx);
        }
    }
}

impl DroidJsonrpcMemory {
    /// Enters the session of a notification. A session other than the first belongs to a sub-agent.
    fn enter(&mut self, session: &Text, cx: &mut Cx<'_>) {
        let id = session.decode();
        let child = self.children.get(session).cloned();
        match (child, &cx.known().session_id) {
            (None, Some(known)) if known.as_str() == id => {}
            (None, None) => {
                cx.session(Session { session_id: Some((&*id).into()), ..Session::default() });
            }
            (child, _) => {
                let call = child.unwrap_or_else(|| CorrId::from(&*id));
                self.speaking.insert(call.clone(), REMEMBERED);
                cx.parent = Some(call);
            }
        }
    }

    /// Whether this block was already emitted. Texts without an id cannot be distinguished.
    fn is_repeated(&mut self, message_id: &str, block: &BlockKind<'_>) -> bool {
        let (of, id, name, body) = match block {
            BlockKind::ToolUse(ToolUse { id: Some(id), name, input }) => {
                ("call", id.as_str(), &**name, input.map_or("", |input| input.get()).into())
            }
            BlockKind::ToolResult(ToolResult { id: Some(id), is_error, body, .. }) => {
                let how = if *is_error { "error" } else { "result" };
                (how, id.as_str(), "", body.text.decode())
            }
            BlockKind::Text(content) => ("text", message_id, "", content.text.decode()),
            BlockKind::Thinking(text) => ("thinking", message_id, "", text.decode()),
            _ => return false,
        };
        if id.is_empty() {
            return false;
        }
        let digest = Digest::of([of, id, name, &body].join("\n").as_bytes());
        let digest = CorrId::from(digest.to_string());
        let is_repeated = self.told.contains(&digest);
        self.told.insert(digest, REMEMBERED);
        is_repeated
    }

    fn message(&mut self, mut line: BlockMessage<'_>, extra: Extra, cx: &mut Cx<'_>) {
        let message_id = line.message.id.as_ref().map(Text::to_string).unwrap_or_default();
        line.message.content.retain(|block| {
            let is_prompt =
                |text: &mut Text| matches!(&block.kind, BlockKind::Text(said) if said.text == *text);
            let prompt = self.prompt.take_if(|text| line.role == "user" && is_prompt(text));
            let is_repeated = self.is_repeated(&message_id, &block.kind) || prompt.is_some();
            if is_repeated {
                cx.unknown_fields("repeated", &block.unknown);
            }
            !is_repeated
        });
        line.tell(extra, Some(&mut self.streamed), cx);
    }

    fn response(&mut self, id: Option<&Json>, mut given: Object<'_>, cx: &mut Cx<'_>) {
        if let Some(word) = given.text("selectedOption") {
            let calls = id.and_then(|id| self.asked.take(id)).unwrap_or_default();
            answer(&calls, &word, cx);
            let said = given.text("comment").or_else(|| given.text("editedSpecContent"));
            if let Some(comment) = said {
                let extra = given.into_extra().collect::<Extra>();
                cx.entry(NormalizedEntryType::UserMessage, comment, extra);
            }
        } else if let Some(answers) = given.array("answers") {
            let answers = answers.into_iter().filter_map(|raw| value::object(raw)?.str("answer"));
            let answers = answers.collect::<Vec<_>>().join("\n");
            if !answers.is_empty() {
                cx.entry(NormalizedEntryType::UserMessage, answers, ());
            }
            given.ignore(&["cancelled"]);
            cx.unknown_fields("response", &given.rest());
        } else if id.and_then(|id| self.quiet.take(id)).is_none() {
            self.begin(given, cx);
        }
    }

    /// Begins or loads a session and emits its history.
    fn begin(&mut self, mut given: Object<'_>, cx: &mut Cx<'_>) {
        let facts = types::facts(&mut given);
        let mut session = given.object("session").unwrap_or_default();
        cx.session(Session { title: session.text("title"), ..facts });
        if let Some(total) = take_usage(&mut given, "tokenUsage") {
            let inclusive = take_usage(&mut given, "inclusiveTokenUsage");
            self.used.begin(total);
            self.used_by_children.all.begin(inclusive.unwrap_or(total).since(&total));
        }
        for raw in session.array("messages").unwrap_or_default() {
            let Some(mut message) = value::object(raw) else { continue };
            cx.at = message.timestamp("createdAt");
            self.message(BlockMessage::take(message), Extra::new(), cx);
        }
        given.adopt("session", session);
        given.ignore(&["availableModels", "callingToolUseId", "decompSessionType", "gitRepo"]);
        given.ignore(&["isAgentLoopInProgress", "lastCallTokenUsage", "mcpServers", "mission"]);
        given.ignore(&["pendingAskUserRequests", "pendingPermissions", "queuedMessages"]);
        given.ignore(&["workingState"]);
        cx.unknown_fields("response", &given.rest());
    }

    /// Reports the usage of a session.
    fn used(
        &mut self,
        session: Option<&Text>,
        total: TokenUsage,
        inclusive: Option<TokenUsage>,
        cx: &mut Cx<'_>,
    ) {
        let by_children = match session.filter(|_| cx.parent.is_some()) {
            Some(session) => self.used_by_children.reach(session, total),
            None => {
                cx.usage(self.used.reach(total).unwrap_or_default());
                inclusive.and_then(|sum| self.used_by_children.all.reach(sum.since(&total)))
            }
        };
        used_by_children(by_children, cx);
    }

    fn end_turn(&mut self, session: Option<&Text>, turn: Turn, cx: &mut Cx<'_>) {
        let Turn { outcome, reason, duration_ms, used, used_by_children: by_children } = turn;
        if cx.parent.is_some() {
            return used.1.into_iter().for_each(|total| self.used(session, total, None, cx));
        }
        cx.usage(self.used.end_turn(used).unwrap_or_default());
        used_by_children(self.used_by_children.all.end_turn(by_children), cx);
        let end = |status, at| DroidResult::new(status, at).with_body(Text::default());
        permission::end_turn(outcome, end, cx);
        self.turns += 1;
        self.duration_ms = self.duration_ms.saturating_add(duration_ms.unwrap_or(0));
        let error = self.error.take().filter(|_| outcome == Some(Outcome::Failed));
        cx.session(Session {
            outcome,
            outcome_reason: error.or(reason),
            turns: Some(self.turns),
            duration_ms: (self.duration_ms > 0).then_some(self.duration_ms),
            ..Session::default()
        });
    }
}

/// Reports the usage of sub-agents, whose model is not stated.
fn used_by_children(more: Option<TokenUsage>, cx: &mut Cx<'_>) {
    if let Some(more) = more.filter(|more| !more.is_zero()) {
        cx.usage_of(None, more);
    }
}
