//! The Agent Client Protocol: messages between a client and an agent, in one or both directions.

mod action_mapper;
mod types;

use foldline_domain::{ToolResult as Body, tool_calls::CallResult as _};
use serde::{Deserialize, Serialize};

use self::types::{Kind, Message, ToolCall};
use crate::{
    action::{file_edit, take_exit_status, todo_items, todo_list},
    dialect::{notice::Said, permission, recent_map::RecentMap},
    prelude::*,
    recogniser::nested,
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
                update_call(&call, extra, cx);
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
            Kind::ToolCall(call) => update_call(&call, extra, cx),
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
                apply_result(call, result_of(std::mem::take(&mut given), status, cx), cx);
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

/// Applies a new or changed call. An unknown call is opened.
fn update_call(call: &ToolCall<'_>, mut extra: Extra, cx: &mut Cx<'_>) {
    let before = cx.calls().get(&call.id).cloned();
    let tool = before.as_ref().and_then(NormalizedEntry::tool);
    let name = call.kind.as_ref().or(tool.map(|tool| &tool.tool_name)).map(Text::decode);
    let name = name.unwrap_or("other".into());
    let title = call.title.as_ref().or(before.as_ref().map(|entry| &entry.content)).cloned();
    if call.input.is_some() || tool.is_none_or(|tool| tool.tool_name.decode() != name) {
        let mapped = action_mapper::map(&name, title, call.input, cx.cwd().as_deref());
        cx.call_again(Some(call.id.clone()), &name, mapped, std::mem::take(&mut extra));
    } else if let Some(title) = &call.title {
        cx.update(&call.id, |entry| entry.content = title.clone());
    }
    let current = tool.map_or(ToolStatus::Created, |tool| tool.status.clone());
    let mut status = call.status.as_ref().unwrap_or(&current).clone();
    if status == ToolStatus::Failed {
        status = before.as_ref().and_then(permission::refusal).unwrap_or(status);
    }
    let mut result = ToolOutcome::new(status, cx.at).with_extra(extra);
    add_output(call, &mut result, cx);
    if result != ToolOutcome::new(current, cx.at) {
        apply_result(call.id.clone(), result, cx);
    }
}

/// Applies the final or partial result of a call.
fn apply_result(call: CorrId, result: ToolOutcome, cx: &mut Cx<'_>) {
    if result.status.is_final() || cx.calls().get(&call).is_none() {
        cx.result(call, result);
    } else {
        cx.update(&call, |entry| result.complete(entry));
    }
}

/// Adds the blocks, diffs and terminals of a call, and its tool's output.
fn add_output(call: &ToolCall<'_>, result: &mut ToolOutcome, cx: &mut Cx<'_>) {
    let (mut texts, mut changes) = (Vec::new(), Vec::new());
    for raw in &call.content {
        let mut item = value::object(*raw).unwrap_or_default();
        let name = item.str("type").unwrap_or_default();
        let text = match &*name {
            "diff" if item.has("newText") => {
                let path = item.str("path").unwrap_or_default();
                let path = files::relative_path(&path, cx.cwd().as_deref());
                let (before, after) =
                    (item.str("oldText"), item.str("newText").unwrap_or_default());
                changes.push(files::change(&path, before.as_deref(), &after, false));
                Content::default()
            }
            "terminal" if item.has("terminalId") => {
                format!("[terminal: {}]", item.str("terminalId").unwrap_or_default()).into()
            }
            _ => {
                let block = item.raw("content").filter(|_| name == "content");
                item = block.map(|_| item).unwrap_or_default();
                let (text, extra) = cx.content("tool_call", block.unwrap_or(*raw));
                result.extra.extend(extra);
                text
            }
        };
        texts.extend(Some(text).filter(|text| !text.is_empty()));
        result.extra.extend(cx.unknown_fields("tool_call.content", &item.rest()));
    }
    let path = changes.first().map(|change| change.path().clone());
    result.action = path.map(|path| Box::new(file_edit(path, changes).0));
    let content = Content::lines(texts);
    let (text, images) = content.map(|content| (content.text, content.images)).unzip();
    result.body = text.map(Body::Text);
    result.images = images.unwrap_or_default();
    if let Some(output) = call.output {
        result.exit_status = take_exit_status(&mut value::object(output).unwrap_or_default());
        match result.body {
            Some(_) => result.extra.push(("rawOutput".to_owned(), output.into())),
            None => result.body = Some(output.into()),
        }
    }
    result.extra.extend(call.locations.clone().map(|list| ("locations".to_owned(), list)));
}

/// The result of a request to the client, or the state of a command.
fn result_of(mut given: Object<'_>, status: ToolStatus, cx: &Cx<'_>) -> ToolOutcome {
    let mut result = ToolOutcome::new(status, cx.at);
    result.body = given.text("content").or_else(|| given.text("output")).map(Body::Text);
    let exit = given.within("exitStatus", take_exit_status).flatten();
    result.exit_status = exit.or_else(|| take_exit_status(&mut given));
    result.extra.extend(given.into_extra().map(|(name, json)| (format!("result.{name}"), json)));
    result
}
