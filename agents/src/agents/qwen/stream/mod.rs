//! The stream of `qwen -o stream-json`, with and without `--include-partial-messages`, and the array of
//! `-o json`.

mod types;

use serde::{Deserialize, Serialize};

use self::types::{QwenJson, RunResult};
use crate::{
    dialect::{
        anthropic::{self, BlockKind, Message, Reader, ToolResult},
        gemini,
        notice::kind_of_answer,
        streamed::Streamed,
        textual_result::TextualResult,
        usage::RunUsage,
    },
    prelude::*,
    qwen::status_of_failure,
    recogniser::{is_tree_record, message},
};

/// `qwen -o stream-json` and `-o json`.
///
/// - Each block of an answer is a separate message; streamed chunks have the id of the first one.
/// - A failed model request is a text answer, and the run ends with success.
/// - The end of a run states its tokens, including those of sub-agents; the messages do not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Qwen;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QwenMemory {
    streamed: Streamed,
    usage: RunUsage,
    /// The agent's last message, which the end of the run repeats.
    last_words: Option<Text>,
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for Qwen {
    const FORMAT: Format =
        Format::new("qwen", "Qwen Code, stream-json", "qwen").with_tested("0.15.6");
    type Line<'a> = QwenJson<'a>;
    type Result = TextualResult;
    type Memory = QwenMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        match &*object.get_str("type").unwrap_or_default() {
            "system" if is_tree_record(object) => Evidence::None,
            "system" if object.has_any(&["qwen_code_version", "permission_mode"]) => {
                Evidence::Certain
            }
            "system" => Evidence::Possible,
            "user" | "assistant" => {
                let Some(message) = message(object) else { return Evidence::None };
                let id = message.get_str("id");
                if id.is_some() && id == object.get_str("uuid") {
                    return Evidence::Certain;
                }
                Evidence::possible_if(object.has("parent_tool_use_id"))
            }
            "stream_event" if object.has("goal_state") => Evidence::Certain,
            "stream_event" => Evidence::possible_if(object.has("event")),
            // Qwen Code never states a cost.
            "result" if object.has("total_cost_usd") => Evidence::None,
            "result" if object.has_all(&["uuid", "num_turns", "permission_denials"]) => {
                Evidence::Certain
            }
            "result" => Evidence::possible_if(object.has_any(&["uuid", "duration_api_ms"])),
            _ => Evidence::None,
        }
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str("session_id")
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<QwenJson<'a>> {
        QwenJson::parse(object, header)
    }

    fn line(&self, line: QwenJson<'_>, extra: Extra, memory: &mut QwenMemory, cx: &mut Cx<'_>) {
        match line {
            QwenJson::Init(facts) => {
                memory.streamed.abandon(gemini::map, cx);
                cx.session(Session { started_at: cx.at, ..*facts });
            }
            QwenJson::User(message) => {
                let kind = NormalizedEntryType::UserMessage;
                let mut blocks = Blocks { kind, streamed: None };
                anthropic::read(message, "user", Meta::from(extra), &mut blocks, cx);
            }
            QwenJson::Assistant { message, usage } => {
                memory.assistant(message, usage, extra, cx);
            }
            QwenJson::Partial(event) => memory.streamed.read(event, gemini::map, cx),
            QwenJson::Progress(call) => {
                if let Some(call) = call {
                    cx.running(&call);
                }
            }
            QwenJson::Goal(state) => {
                let extra: Extra =
                    [("goal_state".to_owned(), state)].into_iter().chain(extra).collect();
                cx.entry(NormalizedEntryType::SystemMessage, "goal", extra);
            }
            QwenJson::Result(line) => memory.result(*line, cx),
        }
    }

    fn end(&self, memory: &mut QwenMemory, cx: &mut Cx<'_>) {
        memory.streamed.abandon(gemini::map, cx);
    }
}

impl QwenMemory {
    fn assistant(
        &mut self,
        message: Message<'_>,
        usage: TokenUsage,
        extra: Extra,
        cx: &mut Cx<'_>,
    ) {
        if let Some(usage) = self.usage.note(message.model.as_ref(), usage) {
            cx.usage_of_message(message.id.clone(), message.model.clone(), usage);
        }
        for block in &message.content {
            match &block.kind {
                BlockKind::Text(content) if cx.parent.is_none() => {
                    self.last_words = Some(content.text.clone());
                }
                BlockKind::ToolUse(call) => {
                    call.id.as_ref().inspect(|id| self.streamed.claim_call(id));
                }
                _ => {}
            }
        }
        let model = message.model.clone().filter(|model| cx.known().model.as_ref() != Some(model));
        let meta = Meta { message_id: message.id.clone(), model, extra };
        let kind = NormalizedEntryType::AssistantMessage;
        let mut blocks = Blocks { kind, streamed: Some(&mut self.streamed) };
        anthropic::read(message, "assistant", meta, &mut blocks, cx);
    }

    fn result(&mut self, line: RunResult<'_>, cx: &mut Cx<'_>) {
        self.streamed.abandon(gemini::map, cx);
        let RunResult { mut facts, result, error, error_type, totals, denials } = line;
        for denial in denials {
            let denied = TextualResult::new(ToolStatus::Denied { reason: None }, cx.at);
            denial.end_call(gemini::map, denied, cx);
        }
        let last_words = self.last_words.take();
        let words = result.filter(|words| !words.is_empty() && last_words.as_ref() != Some(words));
        if let Some(words) = words {
            cx.entry(kind_of_answer(is_api_error(&words)), words, ());
        }
        if let Some(error) = error.clone() {
            let kind = error_type.map(|kind| ("type".to_owned(), Json::from(kind)));
            cx.entry(NormalizedEntryType::ErrorMessage, error, kind.into_iter().collect::<Extra>());
        }
        let failure = last_words.filter(is_api_error);
        if failure.is_some() && facts.outcome == Some(Outcome::Success) {
            facts.outcome = Some(Outcome::Failed);
        }
        facts.outcome_reason = error.or(failure).or(facts.outcome_reason);
        cx.session(Session { ended_at: cx.at, ..facts });
        for (model, usage) in self.usage.settle(totals) {
            let model = model.or_else(|| cx.known().model.clone());
            cx.usage_of(model, usage);
        }
    }
}

/// The blocks of a message, whose texts are entries of this kind.
struct Blocks<'m> {
    kind: NormalizedEntryType,
    /// The streamed part of the message.
    streamed: Option<&'m mut Streamed>,
}

impl Reader<TextualResult> for Blocks<'_> {
    fn text(&mut self, text: Text) -> (NormalizedEntryType, Text) {
        let kind = match self.kind {
            NormalizedEntryType::AssistantMessage => kind_of_answer(is_api_error(&text)),
            _ => self.kind.clone(),
        };
        (kind, text)
    }

    fn call(&mut self, name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
        gemini::map(name, input, cwd)
    }

    fn result(&mut self, answer: ToolResult<'_>, extra: Extra, cx: &mut Cx<'_>) -> TextualResult {
        let status = match answer.is_error {
            true => status_of_failure(Some(&answer.body.text)),
            false => ToolStatus::Success,
        };
        TextualResult::new(status, cx.at).with_content(answer.body).with_extra(extra)
    }

    fn entry(&mut self, entry: NormalizedEntry, cx: &mut Cx<'_>) {
        match &mut self.streamed {
            Some(streamed) => streamed.say(entry, cx),
            None => cx.push(entry),
        }
    }
}

/// Whether the program wrote an answer because a model request failed.
fn is_api_error(words: &Text) -> bool {
    words.begins_with("[API Error: ")
}
