//! Kimi Code: the journal that it keeps of each agent of a session,
//! `~/.kimi-code/sessions/<project>/session_<id>/agents/<agent>/wire.jsonl`.

mod action_mapper;
mod types;

use std::path::Path;

use serde::{Deserialize, Serialize};

use self::types::{Answer, Call, KimiLine, Prompt};
use crate::{
    dialect::{
        notice,
        textual_result::{self, TextualResult},
        usage::ModelUsage,
    },
    prelude::*,
    siblings::folder_name,
};

/// The journal of an agent.
///
/// - A prompt appears twice: as typed, and as added to the context.
/// - Tokens stand twice: at the end of a step, and as a record of their own, which also exists for a compaction. The end
///   of a step counts only if no such record follows.
/// - A record of tokens names the model by its alias; the request before it states which model that is.
/// - The path states the session. A sub-agent has its own journal, and counts as its own session.
#[derive(Clone, Debug, Default)]
pub struct Kimi {
    session: Option<SessionId>,
    parent: Option<SessionId>,
    /// What the file of the session beside the journals states.
    stated: Stated,
}

/// The facts in `state.json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Stated {
    work_dir: Option<String>,
    title: Option<String>,
}

/// The largest number of rejected calls to remember.
const REMEMBERED: usize = 256;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KimiMemory {
    /// The last prompt as typed.
    prompt: Option<Text>,
    /// The tokens of a step that no record has repeated.
    unrecorded: Option<ModelUsage>,
    /// The alias and the model of the latest request.
    #[serde(default)]
    requested: (Option<Text>, Option<Text>),
    /// The rejected calls.
    rejected: RecentIds,
    /// The number of calls of sub-agents.
    #[serde(default)]
    agents: usize,
    has_begun: bool,
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for Kimi {
    const FORMAT: Format = Format::new("kimi", "Kimi Code, journal", "kimi")
        .with_homes(&["${KIMI_CODE_HOME:-~/.kimi-code}/sessions"]);
    type Line<'a> = KimiLine<'a>;
    type Result = TextualResult;
    type Memory = KimiMemory;

    fn of_file(&self, path: &Path, beside: Beside<'_>) -> Option<Self> {
        let mut folders = path.ancestors().skip(1);
        let agent = folder_name(folders.next())?;
        let is_agents = folder_name(folders.next())? == "agents";
        let folder = folders.next().filter(|_| is_agents)?;
        let session = folder_name(Some(folder))?;
        let session = session.strip_prefix("session_").unwrap_or(&session);
        let stated = beside(&folder.join("state.json"));
        let stated: Option<Stated> = stated.and_then(|state| serde_json::from_str(&state).ok());
        let stated = stated.unwrap_or_default();
        let main = SessionId::from(session);
        Some(match agent.as_str() {
            "main" => Self { session: Some(main), parent: None, stated },
            agent => {
                let session = SessionId::from(format!("{session}/{agent}").as_str());
                Self {
                    session: Some(session),
                    parent: Some(main),
                    stated: Stated { title: None, ..stated },
                }
            }
        })
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let kind = object.get_str("type").unwrap_or_default();
        match &*kind {
            "metadata" => Evidence::certain_if(object.has_all(&["protocol_version", "created_at"])),
            "context.append_loop_event" => Evidence::certain_if(object.has("event")),
            "config.update" if object.has("modelAlias") => Evidence::Certain,
            "config.update" | "usage.record" | "turn.prompt" | "context.append_message" => {
                Evidence::certain_if(object.has("time"))
            }
            _ => Evidence::None,
        }
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<KimiLine<'a>> {
        KimiLine::parse(object, header)
    }

    fn line(&self, line: KimiLine<'_>, extra: Extra, memory: &mut KimiMemory, cx: &mut Cx<'_>) {
        if !std::mem::replace(&mut memory.has_begun, true) {
            let session_id = self.session.clone();
            let parent = self.parent.clone().map(|parent| Box::new(Parent::of_agent(parent)));
            let text = |text: &Option<String>| {
                text.clone().filter(|text| !text.is_empty()).map(Text::from)
            };
            let (cwd, title) = (text(&self.stated.work_dir), text(&self.stated.title));
            cx.session(Session { session_id, parent, cwd, title, ..Session::default() });
        }
        match line {
            KimiLine::Facts(facts) => cx.session(*facts),
            KimiLine::Said(said) => notice::say(said, extra, cx),
            KimiLine::Prompt(prompt) => memory.prompt(prompt, extra, cx),
            KimiLine::Part(kind, text) => cx.entry(kind, text, extra),
            KimiLine::Block(kind, block) => cx.unknown_block(&kind, block),
            KimiLine::Call(Call { id, name, arguments, plan }) => {
                let mapped = action_mapper::map(&name, arguments, plan, cx.cwd().as_deref());
                // The folders of sub-agents are numbered in the order of their calls.
                let child =
                    self.session.as_ref().filter(|_| name == "Agent" && self.parent.is_none());
                let child = child.map(|session| format!("{session}/agent-{}", memory.agents));
                memory.agents += usize::from(child.is_some());
                cx.call(id, &name, mapped.starting(child.as_deref().map(Into::into)), extra);
            }
            KimiLine::Answer(answer) => memory.answer(answer, extra, cx),
            KimiLine::Rejected(id) => {
                memory.rejected.insert(id, REMEMBERED);
            }
            KimiLine::Request(alias, model) => memory.requested = (alias, model),
            KimiLine::Step(usage) => {
                memory.settle(cx);
                let (model, usage) = usage;
                memory.unrecorded = Some((memory.model(model, cx), usage));
            }
            KimiLine::Used((model, usage)) => {
                memory.unrecorded = None;
                cx.usage_of(memory.model(model, cx), usage);
            }
        }
    }

    fn is_ignored(&self, line: &KimiLine<'_>) -> bool {
        let is_empty = matches!(line, KimiLine::Facts(facts) if **facts == Session::default());
        is_empty || matches!(line, KimiLine::Request(..))
    }

    fn end(&self, memory: &mut KimiMemory, cx: &mut Cx<'_>) {
        memory.settle(cx);
    }
}

impl KimiMemory {
    fn prompt(&mut self, prompt: Prompt, extra: Extra, cx: &mut Cx<'_>) {
        let Prompt { content, is_repetition, is_typed } = prompt;
        let repeated = self.prompt.take();
        if is_repetition && (!is_typed || repeated.as_ref() == Some(&content.text)) {
            return;
        }
        if !is_repetition {
            self.prompt = Some(content.text.clone());
        }
        cx.entry(NormalizedEntryType::UserMessage, content, extra);
    }

    fn answer(&mut self, answer: Answer<'_>, mut extra: Extra, cx: &mut Cx<'_>) {
        let Answer { call, is_error, output, facts } = answer;
        extra.extend(facts);
        let content = output.map(|output| {
            let (content, more) = cx.content("output", output);
            extra.extend(more);
            content
        });
        let text = content.as_ref().map(|content| &content.text);
        let is_rejected = call.as_ref().is_some_and(|call| self.rejected.contains(call));
        let reason = text.filter(|_| is_rejected).cloned();
        let status = textual_result::status(is_error || is_rejected, is_rejected, reason);
        let code = text.filter(|_| is_error).and_then(exit_code);
        let mut result = TextualResult::new(status, cx.at).with_content(content).with_extra(extra);
        result.exit_status = code.map(|code| CommandExitStatus::ExitCode { code });
        cx.result(call, result);
    }

    /// Counts the tokens of a step without a separate record.
    fn settle(&mut self, cx: &mut Cx<'_>) {
        if let Some((model, usage)) = self.unrecorded.take() {
            cx.usage_of(model, usage);
        }
    }

    /// The model with this alias, or that of the session: that of the latest request, if it has the same alias.
    fn model(&self, alias: Option<Text>, cx: &Cx<'_>) -> Option<Text> {
        let alias = alias.or_else(|| cx.known().model.clone());
        let (requested, model) = &self.requested;
        let is_same = requested.is_none() || *requested == alias;
        model.clone().filter(|_| is_same).or(alias)
    }
}

/// The exit code at the end of the output of a failed command.
fn exit_code(text: &Text) -> Option<i32> {
    let text = text.decode();
    let last = text.trim_end().lines().last()?;
    last.strip_prefix("Command failed with exit code: ")?.trim_end_matches('.').parse().ok()
}
