//! Factory's Droid: the stream of `droid exec --output-format stream-json`, `-o json`, the messages of
//! `stream-jsonrpc`, session files, and their settings files.

mod action_mapper;
mod jsonrpc;
mod message;
mod result;
mod session;
mod settings;
mod types;

use serde::{Deserialize, Serialize};

pub use self::{jsonrpc::DroidJsonrpc, session::DroidSession, settings::DroidSettings};
use self::{result::DroidResult, types::DroidJson};
use crate::{dialect::notice::kind_of_answer, prelude::*, recogniser::is_tree_record};

/// `droid exec --output-format stream-json`, and `-o json`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Droid;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DroidMemory {
    /// The last thought, since streams print each thought twice.
    last_reasoning: Option<(Option<Text>, Text)>,
    /// The agent's last message, which the completion repeats.
    last_words: Option<Text>,
    /// The text of a completion that precedes the message it repeats.
    final_words: Option<Text>,
}

type Cx<'s> = Context<'s, DroidResult>;

impl Executor for Droid {
    const FORMAT: Format = Format::new("droid", "Factory Droid, stream-json", "droid");
    type Line<'a> = DroidJson<'a>;
    type Result = DroidResult;
    type Memory = DroidMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
            "system" if is_tree_record(object) => false,
            "system" => {
                return if is_init(object) { Evidence::Certain } else { Evidence::Possible };
            }
            "message" => object.has_all(&["role", "text"]),
            "reasoning" => object.has_all(&["id", "text", "timestamp"]),
            "tool_call" => object.has_all(&["toolName", "parameters"]),
            "tool_result" => object.has("isError"),
            "completion" => object.has("finalText"),
            "error" => object.has_all(&["source", "message"]),
            // The only record of `-o json`. Other formats have the same fields and more.
            "result" => {
                let is_bare = !object.has_any(&["uuid", "duration_api_ms"]);
                return Evidence::possible_if(
                    is_bare && object.has_all(&["duration_ms", "num_turns"]),
                );
            }
            _ => false,
        })
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str("session_id")
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<DroidJson<'a>> {
        DroidJson::parse(object, header)
    }

    fn line(&self, line: DroidJson<'_>, extra: Extra, memory: &mut DroidMemory, cx: &mut Cx<'_>) {
        match line {
            DroidJson::Init(facts) => cx.session(Session { started_at: cx.at, ..*facts }),
            DroidJson::Message { role, id, text } => {
                let meta = Meta::from((id, extra));
                memory.message(&role, text, meta, cx);
            }
            DroidJson::Reasoning(id, text) => {
                let thought = Some((id.clone(), text.clone()));
                if memory.last_reasoning != thought {
                    memory.last_reasoning = thought;
                    cx.entry(NormalizedEntryType::Thinking, text, (id, extra));
                }
            }
            DroidJson::ToolCall { id, message_id, name, parameters } => {
                let call = action_mapper::map(&name, parameters, cx.cwd().as_deref());
                cx.call(id, &name, call, (message_id, extra));
            }
            DroidJson::ToolResult { key, is_error, body } => {
                let result = DroidResult::new(result::status(is_error), cx.at);
                cx.result(key, result.with_body(body).with_extra(extra));
            }
            DroidJson::Completion { final_text, facts, usage } => {
                memory.completion(final_text, facts.outcome == Some(Outcome::Failed), cx);
                cx.session(Session { ended_at: cx.at, ..*facts });
                cx.usage(usage);
            }
            DroidJson::Error { source, message } => error(source, message, extra, cx),
        }
    }
}

impl DroidMemory {
    fn message(&mut self, role: &str, text: Text, mut meta: Meta, cx: &mut Cx<'_>) {
        let entry_type = match role {
            "user" => NormalizedEntryType::UserMessage,
            "assistant" => NormalizedEntryType::AssistantMessage,
            other => {
                meta.extra.push(("role".to_owned(), Json::from(Text::from(other))));
                NormalizedEntryType::SystemMessage
            }
        };
        if entry_type == NormalizedEntryType::AssistantMessage {
            if self.final_words.take().is_some_and(|words| same_words(&words, &text)) {
                return;
            }
            self.last_words = Some(text.clone());
        }
        cx.entry(entry_type, text, meta);
    }

    fn completion(&mut self, words: Option<Text>, is_error: bool, cx: &mut Cx<'_>) {
        let Some(words) = words.filter(|words| !words.is_empty()) else { return };
        if self.last_words.take().is_some_and(|said| same_words(&said, &words)) {
            return;
        }
        self.final_words = Some(words.clone());
        cx.entry(kind_of_answer(is_error), words, ());
    }
}

fn error(source: Option<Text>, message: Text, mut extra: Extra, cx: &mut Cx<'_>) {
    // The next line about the same failure is often only "Exec failed", so the first one counts.
    let known = cx.known().outcome == Some(Outcome::Failed);
    let outcome_reason = (!known).then(|| message.clone());
    let (outcome, ended_at) = (Some(Outcome::Failed), cx.at);
    cx.session(Session { outcome, outcome_reason, ended_at, ..Session::default() });
    extra.extend(source.map(|source| ("source".to_owned(), Json::from(source))));
    cx.entry(NormalizedEntryType::ErrorMessage, message, extra);
}

/// Compares texts without outer white space, which a completion may trim.
fn same_words(a: &Text, b: &Text) -> bool {
    a == b || a.decode().trim() == b.decode().trim()
}

fn is_init(object: &Object<'_>) -> bool {
    object.get_str("subtype").as_deref() == Some("init")
        && object.has_all(&["cwd", "session_id"])
        && object.has_any(&["tools", "reasoning_effort"])
        // Other formats have the same fields and also these.
        && !object.has_any(&["uuid", "mcp_servers", "slash_commands", "agents", "agent_mode"])
        && !object.has_any(&["apiKeySource", "permissionMode", "permission_mode"])
        && !object.has_any(&["claude_code_version", "qwen_code_version"])
        && !object.has_any(&["output_style", "fast_mode_state"])
}
