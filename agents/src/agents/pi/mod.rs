//! Pi and OpenClaw: the sessions that they keep, `~/.pi/agent/sessions/--<path>--/<time>_<id>.jsonl` and
//! `~/.openclaw/agents/<agent>/sessions/<id>.jsonl`.

mod action_mapper;
mod types;

use serde::{Deserialize, Serialize};

use self::types::{Answer, Message, PersonCommand, PiLine};
use crate::{
    dialect::{
        notice,
        textual_result::{self, TextualResult},
    },
    prelude::*,
    recogniser::message,
};

/// A session that Pi, or OpenClaw, keeps.
///
/// - A branch or a fork begins with the history of its parent. Messages have the same ids there, so their tokens count
///   once.
/// - OpenClaw writes the last message of a run again, with the tokens of the whole run: neither is counted twice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pi;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PiMemory {
    /// The agent's last message, which OpenClaw repeats.
    last_words: Option<Text>,
    /// Whether this is OpenClaw.
    is_openclaw: bool,
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for Pi {
    const FORMAT: Format = Format::new("pi", "Pi and OpenClaw, session file", "pi").with_homes(&[
        "${PI_CODING_AGENT_DIR:-~/.pi/agent}/sessions",
        "~/.omp/agent/sessions",
        "~/.omp/profiles",
        "${XDG_DATA_HOME:-~/.local/share}/omp",
        "${OPENCLAW_STATE_DIR:-~/.openclaw}/agents",
    ]);
    type Line<'a> = PiLine<'a>;
    type Result = TextualResult;
    type Memory = PiMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        match &*object.get_str("type").unwrap_or_default() {
            "session" => {
                let is_header = object.has_all(&["id", "timestamp", "cwd"]);
                // Other formats have a title, too; only Oh My Pi states where it is from.
                let is_of_others = object.has("title") && !object.has("titleSource");
                Evidence::certain_if(is_header && !is_of_others && !object.has("owner"))
            }
            "message" => {
                let message = message(object).unwrap_or_default();
                let is_own = message.has_all(&["api", "provider", "stopReason"])
                    || message.has_all(&["toolCallId", "toolName", "isError"]);
                match is_own {
                    true => Evidence::Certain,
                    false => Evidence::possible_if(
                        object.has("timestamp")
                            && message.has_all(&["role", "content", "timestamp"]),
                    ),
                }
            }
            "model_change" => Evidence::certain_if(object.has_all(&["provider", "modelId"])),
            "thinking_level_change" => Evidence::certain_if(object.has("thinkingLevel")),
            "custom" | "custom_message" => Evidence::certain_if(object.has("customType")),
            _ => Evidence::None,
        }
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<PiLine<'a>> {
        PiLine::parse(object, header)
    }

    fn line(&self, line: PiLine<'_>, extra: Extra, memory: &mut PiMemory, cx: &mut Cx<'_>) {
        match line {
            PiLine::Facts(facts) => cx.session(*facts),
            PiLine::Said(said) => notice::say(said, extra, cx),
            PiLine::OpenClaw => memory.is_openclaw(cx),
            PiLine::Prompt(content) => {
                let (text, more) = cx.content("content", content);
                cx.entry(NormalizedEntryType::UserMessage, text, [extra, more].concat());
            }
            PiLine::Message(message) => memory.message(&message, extra, cx),
            PiLine::Answer(answer) => result(answer, extra, cx),
            PiLine::Command(command) => ran(command, extra, cx),
        }
    }

    fn is_ignored(&self, line: &PiLine<'_>) -> bool {
        matches!(line, PiLine::OpenClaw)
    }
}

impl PiMemory {
    fn is_openclaw(&mut self, cx: &mut Cx<'_>) {
        if !std::mem::replace(&mut self.is_openclaw, true) {
            cx.session(Session { agent: Some("openclaw".into()), ..Session::default() });
        }
    }

    fn message(&mut self, message: &Message<'_>, extra: Extra, cx: &mut Cx<'_>) {
        let Message { id, model, provider, thoughts, texts, calls, unknown, error, .. } = message;
        let is_repeated = message.is_summary && texts.last() == self.last_words.as_ref();
        if is_repeated {
            return self.is_openclaw(cx);
        }
        if cx.known().model != *model || cx.known().provider != *provider {
            let (model, provider) = (model.clone(), provider.clone());
            cx.session(Session { model, provider, ..Session::default() });
        }
        let mut meta = Meta { message_id: id.clone(), model: None, extra };
        for thought in thoughts {
            cx.entry(NormalizedEntryType::Thinking, thought.clone(), meta.next());
        }
        for text in texts {
            cx.entry(NormalizedEntryType::AssistantMessage, text.clone(), meta.next());
        }
        if let Some(words) = texts.last() {
            self.last_words = Some(words.clone());
        }
        for (kind, block) in unknown {
            cx.unknown_block(kind, block.clone());
        }
        for call in calls {
            let mapped = action_mapper::map(&call.name, call.arguments, cx.cwd().as_deref());
            cx.call(call.id.clone(), &call.name, mapped, meta.next());
            // An aborted message's calls were not made.
            if error.is_some() {
                let cancelled = TextualResult::new(ToolStatus::Cancelled, cx.at);
                cx.result(call.id.clone(), cancelled);
            }
        }
        if let Some(error) = error {
            cx.entry(NormalizedEntryType::ErrorMessage, error.clone(), meta.next());
        }
        if !message.is_summary {
            cx.usage_of_message(message.key(cx.at), model.clone(), message.usage);
        }
    }
}

fn result(answer: Answer<'_>, extra: Extra, cx: &mut Cx<'_>) {
    let Answer { call, is_error, content, detail, exit_code, duration_ms, facts } = answer;
    let mut extra: Extra = facts.into_iter().chain(extra).collect();
    let content = content.map(|content| {
        let (content, more) = cx.content("content", content);
        extra.extend(more);
        content
    });
    let has_failed = is_error || exit_code.is_some_and(|code| code != 0);
    let status = textual_result::status(has_failed, false, None);
    let mut result = TextualResult::new(status, cx.at).with_content(content).with_extra(extra);
    result.exit_status = exit_code.map(|code| CommandExitStatus::ExitCode { code });
    result.duration_ms = duration_ms;
    cx.result(call, result.with_detail(detail));
}

/// A command that the person ran: its call and its result are one record.
fn ran(command: PersonCommand, extra: Extra, cx: &mut Cx<'_>) {
    let PersonCommand { id, command, output, exit_code, is_cancelled } = command;
    let id = CorrId::from(format!("bash {}", id.unwrap_or_default()).as_str());
    cx.call(Some(id.clone()), "bash", action_mapper::command(command), extra);
    let status = match exit_code {
        _ if is_cancelled => ToolStatus::Cancelled,
        Some(0) | None => ToolStatus::Success,
        Some(_) => ToolStatus::Failed,
    };
    let mut result = TextualResult::new(status, cx.at).with_body(output);
    result.exit_status = exit_code.map(|code| CommandExitStatus::ExitCode { code });
    cx.result(Some(id), result);
}
