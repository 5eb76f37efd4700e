//! The wire types of journals, protocol version 1.4.

use foldline_domain::NormalizedEntryType::{
    self, AssistantMessage, Compaction, SystemMessage, Thinking,
};

use crate::{
    action::is_among,
    content::Blocks,
    dialect::{
        notice::{self, Notice, Said},
        usage::{ModelUsage, take_counters, with_cache},
    },
    prelude::*,
};

/// One record.
#[derive(Clone, Debug)]
pub enum KimiLine<'a> {
    /// `metadata`, `config.update`, `profile.bind`: facts of the session.
    Facts(Box<Session>),
    /// A record with a single message.
    Said(Said),
    /// `turn.prompt`, `turn.steer`, `context.append_message`: a message of the person.
    Prompt(Prompt),
    /// `content.part`: a text of the agent.
    Part(NormalizedEntryType, Text),
    /// `content.part` of an unknown type.
    Block(String, Json),
    /// `tool.call`
    Call(Call<'a>),
    /// `tool.result`
    Answer(Answer<'a>),
    /// `permission.record_approval_result`: the person rejected a call.
    Rejected(CorrId),
    /// `llm.request`: the alias of a model, and the model.
    Request(Option<Text>, Option<Text>),
    /// `step.end`: the tokens of a step.
    Step(ModelUsage),
    /// `usage.record`: tokens.
    Used(ModelUsage),
}

/// A message of the person.
#[derive(Clone, Debug)]
pub struct Prompt {
    pub content: Content,
    /// Whether it is the form that is added to the context.
    pub is_repetition: bool,
    /// Whether a person typed it.
    pub is_typed: bool,
}

/// A tool call.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub id: Option<CorrId>,
    pub name: Cow<'a, str>,
    pub arguments: Option<Raw<'a>>,
    /// The plan that it presents.
    pub plan: Option<Text>,
}

/// The result of a call.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    pub call: Option<CorrId>,
    pub is_error: bool,
    pub output: Option<Raw<'a>>,
    pub facts: Extra,
}

/// Records with a single message.
const NOTICES: [Notice; 4] = [
    ("context.apply_compaction", Compaction, "compaction: ", "summary"),
    ("plan_mode.enter", SystemMessage, "plan mode begins", ""),
    ("plan_mode.exit", SystemMessage, "plan mode ends", ""),
    ("turn.cancel", SystemMessage, "cancelled", ""),
];

/// Records without content, or with content that others repeat.
const QUIET: &str = "full_compaction.begin full_compaction.complete llm.tools_snapshot \
    plugin.session_start runtime.set_binding step.begin tools.set_active_tools";

/// Token counters, of which the input excludes cached input.
const COUNTERS: [&str; 5] =
    ["inputOther", "output", "inputCacheRead", "inputCacheCreation", "reasoning"];

impl<'a> KimiLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let mut inner = match &*header.name {
            "context.append_loop_event" => object.get("event").and_then(value::object),
            _ => None,
        };
        if let Some(event) = &inner {
            header.name = event.get_str("type").unwrap_or_default().into_owned().into();
        }
        if is_among(QUIET, &header.name) || header.name.starts_with("token_counting.") {
            *object = Object::default();
            return Parsed::Ignored;
        }
        let is_event = inner.is_some();
        header.at = object.get("time").and_then(value::as_timestamp).or(header.at);
        let Some(read) = Self::take(&header.name, inner.as_mut().unwrap_or(object)) else {
            return Parsed::Unknown;
        };
        object.ignore(&["time"]);
        if let Some(mut event) = inner.filter(|_| is_event) {
            event.ignore(&["type", "uuid", "turnId", "step", "stepUuid", "parentUuid"]);
            object.ignore(&["event"]);
            object.adopt("event", event);
        }
        object.ignore(&["agentId"]);
        Parsed::Line(read)
    }

    fn take(name: &str, given: &mut Object<'a>) -> Option<Self> {
        if NOTICES.iter().any(|(of, ..)| *of == name) {
            given.ignore(&["type", "time", "contextSummary", "keptUserMessageCount", "id"]);
            return notice::take(&NOTICES, name, given).map(Self::Said);
        }
        Some(match name {
            "metadata" => {
                given.ignore(&["protocol_version", "app_version"]);
                let started_at = given.timestamp("created_at");
                Self::Facts(Box::new(Session { started_at, ..Session::default() }))
            }
            "config.update" | "profile.bind" => Self::Facts(Box::new(take_facts(given))),
            "permission.set_mode" => {
                let authority = given.text("mode").map(Authority::of_mode).map(Box::new);
                Self::Facts(Box::new(Session { authority, ..Session::default() }))
            }
            "turn.prompt" | "turn.steer" => {
                given.ignore(&["origin"]);
                let content = Blocks::read(given.raw("input")?).content();
                Self::Prompt(Prompt { content, is_repetition: false, is_typed: true })
            }
            "context.append_message" => Self::Prompt(take_message(given)?),
            "turn.ended" => {
                let reason = given.str("reason").unwrap_or_default();
                given.ignore(&["turnId", "durationMs"]);
                match &*reason {
                    "completed" | "end_turn" | "" => Self::Facts(Box::default()),
                    reason => {
                        let text = format!("turn ended: {reason}").into();
                        Self::Said((SystemMessage, text, Extra::new()))
                    }
                }
            }
            "llm.request" => {
                given.ignore(&["kind", "provider", "maxTokens", "messageCount", "turnStep"]);
                given.ignore(&["droppedCount", "systemPromptHash", "thinkingEffort"]);
                given.ignore(&["thinkingKeep", "toolSelect", "toolsHash"]);
                Self::Request(given.text("modelAlias"), given.text("model"))
            }
            "content.part" => take_part(given)?,
            "tool.call" => Self::Call(Call::take(given)),
            "tool.result" => Self::Answer(Answer::take(given)),
            "step.end" => {
                given.ignore(&["finishReason", "messageId", "llmFirstTokenLatencyMs"]);
                given.ignore(&[
                    "llmStreamDurationMs",
                    "llmRequestBuildMs",
                    "llmServerFirstTokenMs",
                ]);
                given.ignore(&["llmServerDecodeMs", "llmClientConsumeMs"]);
                given.ignore(&["providerFinishReason", "rawFinishReason"]);
                Self::Step(take_usage(given))
            }
            "usage.record" => {
                given.ignore(&["usageScope"]);
                Self::Used(take_usage(given))
            }
            "permission.record_approval_result" => take_approval(given)?,
            _ => return None,
        })
    }
}

fn take_facts(given: &mut Object<'_>) -> Session {
    given.ignore(&["profileName", "systemPrompt", "subagentNames", "agentsMdPaths"]);
    let mut environment = given.object("environmentDisclosure").unwrap_or_default();
    Session {
        cwd: given.text("cwd").or_else(|| environment.text("cwd")),
        model: given.text("modelAlias"),
        reasoning_effort: given.text("thinkingEffort"),
        ..Session::default()
    }
}

fn take_message(given: &mut Object<'_>) -> Option<Prompt> {
    let mut message = given.object("message")?;
    let origin = message.object("origin").and_then(|mut origin| origin.str("kind"));
    let content = Blocks::read(message.raw("content")?).content();
    let is_typed = origin.as_deref() == Some("user");
    Some(Prompt { content, is_repetition: true, is_typed })
}

fn take_part<'a>(given: &mut Object<'a>) -> Option<KimiLine<'a>> {
    given.within("part", |part| match &*part.str("type").unwrap_or_default() {
        "text" => Some(KimiLine::Part(AssistantMessage, part.text("text")?)),
        "think" => Some(KimiLine::Part(Thinking, part.text("think")?)),
        kind => {
            let block = part.json(kind).unwrap_or_default();
            Some(KimiLine::Block(kind.to_owned(), block))
        }
    })?
}

fn take_usage(given: &mut Object<'_>) -> ModelUsage {
    let mut used = given.object("usage").unwrap_or_default();
    let usage = with_cache(take_counters(&mut used, COUNTERS));
    given.adopt("usage", used);
    (given.text("model"), usage)
}

fn take_approval<'a>(given: &mut Object<'a>) -> Option<KimiLine<'a>> {
    let call = given.corr_id("toolCallId");
    let mut result = given.object("result")?;
    let decision = result.str("decision")?;
    let rule = given.str("sessionApprovalRule");
    given.ignore(&["turnId", "toolName", "action"]);
    let scope = result.str("scope");
    if decision != "approved" {
        return Some(KimiLine::Rejected(call?));
    }
    let said = match (scope.as_deref(), rule) {
        (Some("session"), Some(rule)) => format!("allowed for the session: {rule}"),
        _ => return Some(KimiLine::Facts(Box::default())),
    };
    Some(KimiLine::Said((SystemMessage, said.into(), Extra::new())))
}

impl<'a> Call<'a> {
    fn take(given: &mut Object<'a>) -> Self {
        let plan = given.object("display").and_then(|mut display| display.text("plan"));
        given.ignore(&["description"]);
        Self {
            id: given.corr_id("toolCallId"),
            name: given.str("name").unwrap_or_default(),
            arguments: given.raw("args"),
            plan,
        }
    }
}

impl<'a> Answer<'a> {
    fn take(given: &mut Object<'a>) -> Self {
        let mut result = given.object("result").unwrap_or_default();
        let taken = Self {
            call: given.corr_id("toolCallId"),
            is_error: result.bool("isError").unwrap_or_default(),
            output: result.raw("output"),
            facts: result.extra(&["note"]),
        };
        given.adopt("result", result);
        taken
    }
}
