//! Cline, Roo Code and Kilo Code until 2026: the tasks that these extensions keep,
//! `<editor>/User/globalStorage/<extension>/tasks/<id>/`, and the sessions of Cline's command line program,
//! `~/.cline/data/sessions/<id>/<id>.messages.json` with the manifest `<id>.json`.
//!
//! A task is two lists: what the person saw (`ui_messages.json`), with all prompts, times and tokens, and the messages of
//! the model (`api_conversation_history.json`), with its calls and their results. [`ClineSource`] reads both as one log,
//! whichever file is named. That the input of a session's message includes cached input has one witness: a fixture of its
//! maker.

mod action_mapper;
mod source;
mod types;

use std::{mem, sync::Arc};

use foldline::source::Opener;
use serde::{Deserialize, Serialize};

pub use self::source::ClineSource;
use self::types::{ClineLine, ModelMessage, Part, Shown, TaskFacts};
use crate::{dialect::textual_result::TextualResult, prelude::*, recogniser::nested};

/// The field of the line with the facts of a task.
const TASK: &str = "clineTask";

/// The field of a line with what the person saw.
const SHOWN: &str = "clineMessage";

/// The field of a line with a message to or from the model.
const MESSAGE: &str = "apiMessage";

/// A task of Cline, Roo Code or Kilo Code.
///
/// - Words and tokens are those that the person saw, if there are any; a request states its tokens once it has ended.
/// - A call that the person saw is one of the model's latest answer, if that has one of its kind; older releases wrote
///   calls into the text of the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cline;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClineMemory {
    /// The latest time; the messages of older releases state none.
    at: Option<Timestamp>,
    /// Whether there is a list of what the person saw.
    is_shown: bool,
    /// Whether the first prompt was read.
    is_prompted: bool,
    /// The calls of the latest answer that the person did not see yet: what they do, and their titles.
    unseen: Vec<(String, Text)>,
    /// A call of no answer, with its output so far.
    seen: Option<(CorrId, Option<Text>)>,
    /// The tokens of the whole session, if no message states its own.
    usage: TokenUsage,
}

type Cx<'s> = Context<'s, TextualResult>;

/// The largest number of calls of an answer to remember.
const REMEMBERED: usize = 256;

impl Executor for Cline {
    const FORMAT: Format = Format::new("cline", "Cline, Roo Code and Kilo Code, task", "cline")
        .with_homes(editor_folders![
            "globalStorage/saoudrizwan.claude-dev/tasks",
            "globalStorage/rooveterinaryinc.roo-cline/tasks",
            "globalStorage/kilocode.kilo-code/tasks";
            "${CLINE_SESSION_DATA_DIR:-~/.cline/data/sessions}",
            "${CLINE_DATA_DIR:-~/.cline/data}/sessions",
            "${CLINE_DIR:-~/.cline}/data/sessions",
            "${CLINE_DATA_DIR:-~/.cline/data}/tasks",
            "${CLINE_DIR:-~/.cline}/data/tasks"
        ])
        .with_no_logs(&[
            "_index.json",
            "api_conversation_history.json",
            "history_item.json",
            "task_metadata.json",
        ]);
    type Line<'a> = ClineLine<'a>;
    type Result = TextualResult;
    type Memory = ClineMemory;

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        vec![Arc::new(ClineSource)]
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let is = |field, any: &[&str]| nested(object, field).is_some_and(|it| it.has_any(any));
        let is_one = is(SHOWN, &["say", "ask"]) || is(MESSAGE, &["role", "type"]);
        Evidence::certain_if(is_one || object.has(TASK))
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<ClineLine<'a>> {
        ClineLine::parse(object, header)
    }

    fn line(&self, line: ClineLine<'_>, extra: Extra, memory: &mut ClineMemory, cx: &mut Cx<'_>) {
        cx.at = cx.at.or(memory.at);
        memory.at = cx.at;
        match line {
            ClineLine::Task(task) => {
                let TaskFacts { facts, usage } = *task;
                memory.usage = usage;
                cx.session(facts);
                if !extra.is_empty() {
                    cx.entry(NormalizedEntryType::SystemMessage, "task", extra);
                }
            }
            ClineLine::Shown(shown) => memory.shown(&shown, extra, cx),
            ClineLine::Message(message) => memory.message(*message, extra, cx),
        }
    }

    fn end(&self, memory: &mut ClineMemory, cx: &mut Cx<'_>) {
        memory.ended(cx);
        cx.usage(mem::take(&mut memory.usage));
    }
}

impl ClineMemory {
    fn shown(&mut self, shown: &Shown<'_>, extra: Extra, cx: &mut Cx<'_>) {
        let Shown { kind, content, model, provider, usage, .. } = shown;
        self.is_shown = true;
        if model.is_some() && cx.known().model != *model {
            let (model, provider) = (model.clone(), provider.clone());
            cx.session(Session { model, provider, ..Session::default() });
        }
        if !kind.ends_with("_output") && !kind.ends_with("_response") {
            self.ended(cx);
        }
        let entry = match &**kind {
            "task" | "user_feedback" | "user_feedback_diff" => NormalizedEntryType::UserMessage,
            "text" if !self.is_prompted => NormalizedEntryType::UserMessage,
            "reasoning" => NormalizedEntryType::Thinking,
            "text" | "completion_result" => NormalizedEntryType::AssistantMessage,
            "plan_mode_respond" => {
                let words = shown.field("response").unwrap_or_else(|| content.text.clone());
                return cx.entry(NormalizedEntryType::AssistantMessage, words, extra);
            }
            "error" | "api_req_failed" => NormalizedEntryType::ErrorMessage,
            "condense_context" | "sliding_window_truncation" => {
                let text = shown.summary.clone().unwrap_or_else(|| content.text.clone());
                cx.entry(NormalizedEntryType::Compaction, text, extra);
                return count(shown, *usage, cx);
            }
            "api_req_started" => return count(shown, *usage, cx),
            "command_output" | "mcp_server_response" => return self.output(content, extra, cx),
            "subtask_result" => NormalizedEntryType::SystemMessage,
            _ => return self.call(shown, extra, cx),
        };
        self.is_prompted |= entry == NormalizedEntryType::UserMessage;
        if !content.is_empty() || !extra.is_empty() {
            cx.entry(entry, content.clone(), extra);
        }
    }

    /// A call that the person saw.
    fn call(&mut self, shown: &Shown<'_>, extra: Extra, cx: &mut Cx<'_>) {
        let (name, call) = shown.call(cx.cwd().as_deref());
        let kind = call.action.name();
        let is_same = |known: &(String, Text)| known.0 == kind && known.1 == call.title;
        let same = self.unseen.iter().position(is_same);
        // Paths are written in several ways, commands are not.
        let is_command = matches!(call.action, ActionType::CommandRun { .. });
        let is_alike = |known: &(String, Text)| !is_command && known.0 == kind;
        if let Some(at) = same.or_else(|| self.unseen.iter().position(is_alike)) {
            self.unseen.remove(at);
            return;
        }
        let id = CorrId::from(format!("shown/{}", cx.at.map_or(0, Timestamp::as_millis)).as_str());
        cx.call(Some(id.clone()), &name, call, extra);
        self.seen = Some((id, None));
    }

    /// A part of the output of a call. The answer to the model repeats that of one of its calls.
    fn output(&mut self, content: &Content, extra: Extra, cx: &mut Cx<'_>) {
        if let Some((_, output)) = &mut self.seen {
            let before = output.take().map(|text| text.decode().into_owned());
            let joined = before.unwrap_or_default() + &content.text.decode();
            *output = Some(joined.into());
        } else if !extra.is_empty() {
            cx.entry(NormalizedEntryType::SystemMessage, content.clone(), extra);
        }
    }

    /// Ends the call of no answer, whose outcome nothing states.
    fn ended(&mut self, cx: &mut Cx<'_>) {
        if let Some((id, output)) = self.seen.take() {
            let result = TextualResult::new(ToolStatus::Unknown, cx.at);
            cx.result(Some(id), result.with_body(output));
        }
    }

    fn message(&mut self, message: ModelMessage<'_>, extra: Extra, cx: &mut Cx<'_>) {
        let ModelMessage { id, is_agent, is_summary, parts, model, provider, usage } = message;
        self.ended(cx);
        if is_agent {
            self.unseen.clear();
        }
        if model.is_some() && cx.known().model != model {
            cx.session(Session { model: model.clone(), provider, ..Session::default() });
        }
        let mut meta = Meta::from((id.clone(), extra));
        let words = match is_agent {
            true => NormalizedEntryType::AssistantMessage,
            false => NormalizedEntryType::UserMessage,
        };
        for (part, unknown) in parts {
            let more = cx.unknown_fields("block", &unknown);
            meta.extra.extend(more);
            match part {
                Part::Text(content) if is_summary => {
                    cx.entry(NormalizedEntryType::Compaction, content, meta.next());
                }
                Part::Environment(facts) => {
                    let news = Session { cwd: facts.cwd.filter(|_| cx.cwd().is_none()), ..*facts };
                    cx.session(news);
                }
                Part::Text(_) | Part::Thinking(_) if self.is_shown => {}
                Part::Text(content) => cx.entry(words.clone(), content, meta.next()),
                Part::Thinking(text) => {
                    cx.entry(NormalizedEntryType::Thinking, text, meta.next());
                }
                Part::Call { id, name, input } => {
                    let call = action_mapper::map(&name, input, cx.cwd().as_deref());
                    if self.unseen.len() < REMEMBERED {
                        self.unseen.push((call.action.name().to_owned(), call.title.clone()));
                    }
                    cx.call(id, &name, call, meta.next());
                }
                Part::Result { id, is_error, content, extra } => {
                    let status = if is_error { ToolStatus::Failed } else { ToolStatus::Success };
                    let result = TextualResult::new(status, cx.at).with_content(content);
                    let more = mem::take(&mut meta.extra).into_iter().chain(extra).collect();
                    cx.result(id, result.with_extra(more));
                }
                Part::Unknown { name, raw } => cx.unknown_block(&name, raw),
            }
        }
        if !meta.extra.is_empty() {
            cx.entry(NormalizedEntryType::SystemMessage, "message", meta.next());
        }
        if !self.is_shown && !usage.is_empty() {
            self.usage = TokenUsage::default();
            let key = id.map(|id| key(&id.decode(), cx));
            cx.usage_of_message(key, model, usage);
        }
    }
}

/// Counts the tokens of a request.
fn count(shown: &Shown<'_>, usage: TokenUsage, cx: &mut Cx<'_>) {
    let key = shown.at.map(|at| key(&at.as_millis().to_string(), cx));
    cx.usage_of_message(key, cx.known().model.clone(), usage);
}

/// The identity of a message: ids and times are those of one task.
fn key(id: &str, cx: &Cx<'_>) -> Text {
    let task = cx.known().session_id.as_ref().map(SessionId::as_str).unwrap_or_default();
    Text::from(format!("{task}/{id}"))
}
