//! The wire types of the Agent Client Protocol: requests and notifications of both sides, and responses.

use crate::{
    dialect::{jsonrpc::Rpc, notice::Said},
    prelude::*,
};

#[derive(Clone, Debug)]
pub enum Kind<'a> {
    Response(Object<'a>),
    Error(Said),
    Prompt(Raw<'a>),
    /// `session/request_permission`, with the ids and kinds of the available answers.
    Permission(ToolCall<'a>, Vec<(Text, Text)>),
    /// `fs/..`, `terminal/..`: a request to the client, and its terminal.
    Work(Option<Raw<'a>>, Option<Json>),
    /// A chunk of a message or thought, and the message's id.
    Chunk(NormalizedEntryType, Raw<'a>, Option<Text>),
    ToolCall(ToolCall<'a>),
    Plan(Raw<'a>),
    Mode(Text),
    Facts(Session),
    /// The cost of the session in US dollars.
    Usage(Option<f64>),
}

/// A call or its changed fields.
#[derive(Clone, Debug)]
pub struct ToolCall<'a> {
    pub id: CorrId,
    pub title: Option<Text>,
    /// `read`, `execute`, ..
    pub kind: Option<Text>,
    /// `pending`, `in_progress`, `completed`, `failed`; any other word is not taken.
    pub status: Option<ToolStatus>,
    pub input: Option<Raw<'a>>,
    pub output: Option<Raw<'a>>,
    /// Blocks, diffs and terminals.
    pub content: Vec<Raw<'a>>,
    /// The affected files.
    pub locations: Option<Json>,
}

/// One message of the protocol, with its name and its id.
pub(super) type Message<'a> = (String, Option<Json>, Kind<'a>);

pub(super) fn parse<'a>(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Message<'a>> {
    let (mut rest, input) = (Object::default(), object.get("params"));
    let Some(rpc) = Rpc::read(object) else { return Parsed::Unknown };
    header.name = rpc.name();
    let kind = match rpc {
        Rpc::Result(result) if is_setup(&result) => {
            Rpc::take(object, Object::default());
            return Parsed::Ignored;
        }
        Rpc::Result(result) => Some(Kind::Response(result)),
        Rpc::Error(said) => Some(Kind::Error(said)),
        Rpc::Call(method, mut params) => {
            let mut update = params.object("update").unwrap_or_default();
            header.name = update.str("sessionUpdate").unwrap_or(method);
            let kind = Kind::of_update(&header.name, &mut update)
                .or_else(|| Kind::of_request(&header.name, &mut params, input));
            params.adopt("update", update);
            params.ignore(&["mcpServers", "sessionId"]);
            rest = params;
            kind
        }
    };
    match kind {
        Some(kind) => Parsed::Line((header.name.to_string(), Rpc::take(object, rest), kind)),
        None if SETUP.contains(&&*header.name) => {
            Rpc::take(object, Object::default());
            Parsed::Ignored
        }
        None => Parsed::Unknown,
    }
}

/// Capabilities of both sides, and messages that the response to a prompt repeats.
const SETUP: [&str; 3] = ["available_commands_update", "initialize", "session/cancel"];

/// Whether a response only lists capabilities of the agent.
fn is_setup(result: &Object<'_>) -> bool {
    let names = ["agentCapabilities", "authMethods", "protocolVersion"];
    let fields = result.clone().rest();
    !fields.is_empty() && fields.iter().all(|(name, _)| names.contains(&&**name))
}

impl<'a> Kind<'a> {
    fn of_request(method: &str, params: &mut Object<'a>, input: Option<Raw<'a>>) -> Option<Self> {
        Some(match method {
            "session/new" | "session/load" => Self::Facts(facts(params)),
            "session/prompt" => Self::Prompt(params.raw("prompt")?),
            "session/request_permission" => {
                let call = params.within("toolCall", ToolCall::take)??;
                let options = params.array("options").into_iter().flatten().filter_map(|raw| {
                    let mut option = value::object(raw)?;
                    Some((option.text("optionId")?, option.text("kind")?))
                });
                Self::Permission(call, options.collect())
            }
            _ if method.starts_with("fs/") || method.starts_with("terminal/") => {
                Self::Work(input, std::mem::take(params).json("terminalId"))
            }
            _ => return None,
        })
    }

    fn of_update(name: &str, update: &mut Object<'a>) -> Option<Self> {
        let mut chunk = |entry_type| {
            Some(Self::Chunk(entry_type, update.raw("content")?, update.text("messageId")))
        };
        match name {
            "user_message_chunk" => chunk(NormalizedEntryType::UserMessage),
            "agent_message_chunk" => chunk(NormalizedEntryType::AssistantMessage),
            "agent_thought_chunk" => chunk(NormalizedEntryType::Thinking),
            "tool_call" | "tool_call_update" => ToolCall::take(update).map(Self::ToolCall),
            "plan" => update.raw("entries").map(Self::Plan),
            "current_mode_update" => update.text("currentModeId").map(Self::Mode),
            "config_option_update" | "session_info_update" => Some(Self::Facts(facts(update))),
            "usage_update" => {
                // The size of the context is not usage.
                update.ignore(&["size", "used"]);
                Some(Self::Usage(update.take("cost", |raw| {
                    let mut cost = value::object(raw)?;
                    cost.str("currency").filter(|currency| currency == "USD")?;
                    cost.f64("amount")
                })))
            }
            _ => None,
        }
    }
}

impl<'a> ToolCall<'a> {
    fn take(call: &mut Object<'a>) -> Option<Self> {
        Some(Self {
            id: call.corr_id("toolCallId")?,
            title: call.text("title"),
            kind: call.text("kind"),
            status: call.take("status", |raw| {
                Some(match &*value::as_str(raw)? {
                    "pending" => ToolStatus::Created,
                    "in_progress" => ToolStatus::InProgress,
                    "completed" => ToolStatus::Success,
                    "failed" => ToolStatus::Failed,
                    _ => return None,
                })
            }),
            input: call.raw("rawInput"),
            output: call.raw("rawOutput"),
            content: call.array("content").unwrap_or_default(),
            locations: call.json("locations"),
        })
    }
}

/// Facts of the session and the agent. The model and the reasoning effort are options among others.
pub(super) fn facts(given: &mut Object<'_>) -> Session {
    let mut agent = given.object("agentInfo").unwrap_or_default();
    let outcome_reason = given.text("stopReason");
    let outcome = match outcome_reason.as_ref().map(Text::decode).as_deref() {
        Some("end_turn") => Some(Outcome::Success),
        Some("max_tokens" | "max_turn_requests") => Some(Outcome::LimitReached),
        Some("cancelled") => Some(Outcome::Cancelled),
        Some("refusal") => Some(Outcome::Failed),
        _ => None,
    };
    let mut facts = Session {
        outcome,
        outcome_reason,
        agent: agent.text("name"),
        version: agent.text("version"),
        cwd: given.text("cwd"),
        title: given.text("title"),
        authority: given
            .within("modes", |modes| {
                modes.ignore(&["availableModes"]);
                modes.text("currentModeId")
            })
            .flatten()
            .map(|mode| Box::new(Authority::of_mode(mode))),
        ended_at: given.timestamp("updatedAt"),
        ..Session::default()
    };
    for option in given.array("configOptions").unwrap_or_default() {
        let mut option = value::object(option).unwrap_or_default();
        let value = option.text("currentValue");
        match option.str("category").or_else(|| option.str("id")).as_deref() {
            Some("model") => facts.model = value,
            Some("thought_level") => facts.reasoning_effort = value,
            _ => {}
        }
    }
    facts
}
