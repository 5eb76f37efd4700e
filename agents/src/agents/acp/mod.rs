//! The Agent Client Protocol: messages between a client and an agent, in one or both directions.

mod action_mapper;
mod calls;
mod types;

use serde::{Deserialize, Serialize};

use self::types::{Kind, Message};
use crate::{
    action::{todo_items, todo_list},
    dialect::{notice::Said, permission, recent_map::RecentMap},
    evidence::nested,
    prelude::*,
};

/// The Agent Client Protocol.
///
/// - Messages and thoughts appear only in chunks.
/// - A request to the client, such as reading a file or running a command, is a separate call.
/// - A loaded session replays its history. Content that is already in this log is not repeated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acp;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AcpMemory {
    /// An incomplete message or thought.
    growing: Growing,
    /// The calls of the agent's requests and, for a permission, the ids and kinds of the answers. The response
    /// identifies a request of the client.
    asked: RecentMap<Json, (CorrId, Vec<(Text, Text)>)>,
    /// The calls of commands that the client runs, by terminal.
    terminals: RecentMap<Json, CorrId>,
    /// The number of calls without an id.
    unnamed: u64,
    turns: u64,
    is_loading: bool,
    prompt: Text,
    spent: TokenUsage,
}

type Cx<'s> = Context<'s, ToolOutcome>;

impl Executor for Acp {
    const FORMAT: Format = Format::new("acp", "Agent Client Protocol", "acp");
    type Line<'a> = Message<'a>;
    type Result = ToolOutcome;
    type Memory = AcpMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        if !object.has("jsonrpc") {
            return Evidence::None;
        }
        let is_own = match &*object.get_str("method").unwrap_or_default() {
            // Other protocols begin with `initialize` too; the Model Context Protocol counts its
            // versions by date.
            "initialize" => nested(object, "params")
                .and_then(|params| params.get("protocolVersion"))
                .is_some_and(|raw| raw.get().starts_with(|c: char| c.is_ascii_digit())),
            "" => {
                let answers = ["stopReason", "agentCapabilities", "authMethods"];
                nested(object, "result").is_some_and(|result| result.has_any(&answers))
            }
            method => ["session/", "fs/", "terminal/"].iter().any(|of| method.starts_with(of)),
        };
        if is_own { Evidence::Certain } else { Evidence::Possible }
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        let named = |field| nested(object, field)?.get_str("sessionId");
        named("params").or_else(|| named("result"))
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Message<'a>> {
        types::parse(object, header)
    }

    fn line(&self, line: Message<'_>, extra: Extra, memory: &mut AcpMemory, cx: &mut Cx<'_>) {
        let (name, id, line) = line;
        if !matches!(line, Kind::Chunk(..) | Kind::Facts(_) | Kind::Usage(_)) {
            memory.growing.close(cx);
        }
        let is_update = matches!(line, Kind::Chunk(..) | Kind::ToolCall(_) | Kind::Plan(_));
        match line {
            _ if is_update && memory.is_loading && memory.turns > 0 => {}
            Kind::Response(given) => memory.response(id.as_ref(), given, &extra, cx),
            Kind::Error(said) => memory.failure(id.as_ref(), said, cx),
            Kind::Prompt(content) => {
                let (content, mut more) = cx.content("session/prompt", content);
                more.extend(extra);
                memory.turns += 1;
                (memory.prompt, memory.is_loading) = (content.text.clone(), false);
                cx.entry(NormalizedEntryType::UserMessage, content, more);
            }
            Kind::Permission(call, options) => {
                calls::update(&call, extra, cx);
                permission::ask(&call.id, cx);
                memory.asked.push(id, (call.id, options));
            }
            Kind::Work(input, terminal) => {
                let known = terminal.and_then(|terminal| match &*name {
                    "terminal/release" => memory.terminals.take(&terminal),
                    _ => memory.terminals.get(&terminal).cloned(),
                });
                let call = known.unwrap_or_else(|| {
                    let call = memory.unnamed();
                    let mapped = action_mapper::map(&name, None, input, cx.cwd().as_deref());
                    cx.call(Some(call.clone()), &name, mapped, extra);
                    call
                });
                memory.asked.push(id, (call, Vec::new()));
            }
            Kind::Chunk(entry_type, content, message_id) => {
                let (content, mut more) = cx.content(entry_type.name(), content);
                more.extend(extra);
                let prompt = memory.prompt.decode();
                let rest = prompt.trim_start().strip_prefix(content.text.decode().trim());
                let rest = rest.map(Text::from);
                match rest.filter(|_| entry_type == NormalizedEntryType::UserMessage) {
                    // It was already emitted.
                    Some(rest) => memory.prompt = rest,
                    _ => {
                        let piece = cx.draft(entry_type, content, (message_id, more));
                        memory.growing.grow(piece, cx);
                    }
                }
            }
            Kind::ToolCall(call) => calls::update(&call, extra, cx),
            Kind::Plan(entries) => {
                let items = value::elements(entries).unwrap_or_default();
                let (action, title) = todo_list("write", todo_items(&items));
                let given = vec![("entries".to_owned(), entries.into())];
                let call = MappedCall { extra: given, ..MappedCall::new(action, title) };
                let id = memory.unnamed();
                cx.call(Some(id.clone()), "plan", call, extra);
                cx.result(id, ToolOutcome::new(ToolStatus::Success, cx.at));
            }
            Kind::Mode(mode) => {
                let authority = Some(Box::new(Authority::of_mode(mode.clone())));
                cx.session(Session { authority, ..Session::default() });
                cx.entry(NormalizedEntryType::SystemMessage, format!("mode: {mode}"), extra);
            }
            // They belong to a session without an id.
            Kind::Facts(_) if name == "session/new" && cx.known().session_id.is_some() => {}
            Kind::Facts(facts) => {
                memory.is_loading |= name == "session/load";
                cx.session(facts);
            }
            Kind::Usage(cost_usd) => {
                let spent = TokenUsage { cost_usd, ..TokenUsage::default() };
                // The cost of a session before it was loaded belongs to another log.
                if memory.turns > 0 {
                    cx.usage(spent.since(&memory.spent));
                }
                memory.spent = spent.max(&memory.spent);
            }
        }
    }

    fn is_ignored(&self, (_, _, line): &Message<'_>) -> bool {
        // The size of the context.
        matches!(line, Kind::Usage(None))
    }

    fn end(&self, memory: &mut AcpMemory, cx: &mut Cx<'_>) {
        memory.growing.close(cx);
        (memory.turns, memory.is_loading, memory.spent) = Default::default();
    }
}

impl AcpMemory {
    fn unnamed(&mut self) -> CorrId {
        self.unnamed += 1;
        CorrId::from(format!("unnamed-{}", self.unnamed))
    }

    fn response(
        &mut self,
        id: Option<&Json>,
        mut given: Object<'_>,
        extra: &Extra,
        cx: &mut Cx<'_>,
    ) {
        let mut says_nothing = false;
        let is_agent = given.has_any(&["agentInfo", "configOptions", "sessionId", "stopReason"]);
        match id.filter(|_| !is_agent).and_then(|id| self.asked.take(id)) {
            Some((call, options)) if given.has("outcome") => {
                let read = |outcome: &mut Object<'_>| {
                    ["outcome", "optionId"].map(|name| outcome.text(name))
                };
                let [word, chosen] = given.within("outcome", read).unwrap_or_default();
                let kind = options.into_iter().find(|(id, _)| Some(id) == chosen.as_ref());
                let answer = kind.map(|(_, kind)| kind).or(chosen).or(word);
                permission::answer(&call, answer.unwrap_or_default(), cx);
            }
            Some((call, _)) => {
                self.terminals.push(given.get("terminalId").map(Json::from), call.clone());
                let is_running = self.terminals.values().any(|known| *known == call);
                let status = if is_running { ToolStatus::InProgress } else { ToolStatus::Success };
                calls::tell(call, calls::done(std::mem::take(&mut given), status, cx), cx);
            }
            None => {
                let was_loading = std::mem::take(&mut self.is_loading);
                let mut facts = types::facts(&mut given);
                if facts.outcome_reason.is_some() {
                    facts.turns = Some(self.turns);
                    permission::end_turn(facts.outcome, ToolOutcome::new, cx);
                }
                says_nothing = facts == Session::default()
                    && extra.is_empty()
                    && !was_loading
                    && given.get_str("sessionId").is_none();
                cx.session(facts);
            }
        }
        let setup = ["agentCapabilities", "authMethods", "modes", "protocolVersion", "sessionId"];
        given.ignore(&setup);
        let unknown = given.rest();
        if says_nothing && unknown.is_empty() {
            // The response to a request that is not in the log.
            let id = id.map(|id| ("id".into(), Raw::known(id.get())));
            return cx.unknown_event("response", &id.into_iter().collect());
        }
        cx.unknown_fields("response", &unknown);
    }

    /// Reports a failed request.
    fn failure(&mut self, id: Option<&Json>, said: Said, cx: &mut Cx<'_>) {
        let (kind, message, extra) = said;
        if let Some((call, _)) = id.and_then(|id| self.asked.take(id)) {
            let result = ToolOutcome::new(ToolStatus::Failed, cx.at);
            return cx.result(call, result.with_content(message).with_extra(extra));
        }
        cx.entry(kind, message.clone(), extra);
        let (outcome, outcome_reason) = (Some(Outcome::Failed), Some(message.text));
        cx.session(Session { outcome, outcome_reason, ..Session::default() });
    }
}
