//! The wire types of Goose: a line with the facts of a session, and a line for each message.

use crate::{dialect::usage::take_counters, prelude::*};

/// A line.
#[derive(Clone, Debug)]
pub enum GooseLine<'a> {
    Session(Box<SessionLine>),
    Message(Message<'a>),
}

/// The facts of a session.
#[derive(Clone, Debug)]
pub struct SessionLine {
    pub facts: Session,
    /// The requests of the ledger, or one for the whole session.
    pub requests: Vec<Request>,
}

/// The tokens of a request, or of all of a session.
#[derive(Clone, Debug)]
pub struct Request {
    pub at: Option<Timestamp>,
    pub model: Option<Text>,
    pub usage: TokenUsage,
}

/// A message.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    pub id: Option<Text>,
    pub is_user: bool,
    /// Whether the user does not see it.
    pub is_hidden: bool,
    pub blocks: Vec<Block<'a>>,
}

/// A block of a message.
#[derive(Clone, Debug)]
pub enum Block<'a> {
    Text(Text),
    Image(Raw<'a>),
    Thinking(Text),
    Call(Call<'a>),
    /// A call that the model wrote wrongly, with the error.
    InvalidCall(Text),
    Answer(Answer<'a>),
    /// A message of the program, with its further fields.
    Notice(Text, Extra),
    /// A block that only the model's provider can read.
    Silent,
    Unknown(Cow<'a, str>, Raw<'a>),
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub id: Option<CorrId>,
    pub name: Cow<'a, str>,
    pub arguments: Option<Raw<'a>>,
}

/// The result of a call.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    pub call: Option<CorrId>,
    pub is_error: bool,
    pub content: Option<Raw<'a>>,
    pub error: Option<Text>,
}

/// Counters of the whole session, and those of a request in the ledger; reasoning is not counted.
const WHOLE: [&str; 5] = [
    "accumulated_input_tokens",
    "accumulated_output_tokens",
    "accumulated_cache_read_tokens",
    "accumulated_cache_write_tokens",
    "",
];
const OF_REQUEST: [&str; 5] =
    ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", ""];

impl<'a> GooseLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        if object.has("working_dir") {
            header.name = "session".into();
            return Parsed::Line(Self::Session(Box::new(SessionLine::take(object))));
        }
        let blocks = object.get("content").and_then(value::elements);
        let (Some(blocks), true) = (blocks, object.has("role")) else { return Parsed::Unknown };
        header.name = "message".into();
        header.at = object.timestamp("created").or(header.at);
        Parsed::Line(Self::Message(Message::take(object, blocks)))
    }
}

/// Takes a time: in UTC without a zone, as SQLite writes it, or with one.
fn take_time(object: &mut Object<'_>, key: &str) -> Option<Timestamp> {
    object.timestamp(key).or_else(|| {
        object.take(key, |raw| {
            let moment: jiff::Timestamp = format!("{}Z", value::as_str(raw)?).parse().ok()?;
            Some(Timestamp::from_millis(moment.as_millisecond()))
        })
    })
}

impl SessionLine {
    fn take(object: &mut Object<'_>) -> Self {
        let name = object.text("name").filter(|name| !name.is_empty());
        let description = object.text("description").filter(|text| !text.is_empty());
        let model = object.get("model_config").and_then(value::object);
        let facts = Session {
            session_id: ["session_id", "id"]
                .into_iter()
                .find_map(|key| object.str(key))
                .map(SessionId::from),
            parent: object.str("parent_session_id").map(|id| Box::new(Parent::of_agent(&*id))),
            title: name.or(description),
            cwd: object.text("working_dir"),
            model: model.and_then(|mut model| model.text("model_name")),
            provider: object.text("provider_name"),
            started_at: take_time(object, "created_at"),
            ..Session::default()
        };
        let whole = Request {
            at: take_time(object, "updated_at"),
            model: None,
            usage: TokenUsage {
                cost_usd: object.f64("accumulated_cost"),
                ..take_counters(object, WHOLE)
            },
        };
        let requests = object.within_each("usage_ledger", Request::take).unwrap_or_default();
        // Settings, and the tokens of the latest request.
        object.ignore(&["model_config", "extension_data", "recipe", "user_recipe_values"]);
        object.ignore(&["schedule_id", "project_id", "archived_at", "session_type"]);
        object.ignore(&["user_set_name", "message_count", "accumulated_total_tokens"]);
        object.ignore(&["total_tokens", "input_tokens", "output_tokens"]);
        Self { facts, requests: if requests.is_empty() { vec![whole] } else { requests } }
    }
}

impl Request {
    fn take(row: &mut Object<'_>) -> Self {
        row.ignore(&["id", "session_id", "total_tokens", "cost_source", "is_compaction"]);
        Self {
            at: row.timestamp("created_timestamp"),
            model: row.text("model"),
            usage: TokenUsage { cost_usd: row.f64("cost"), ..take_counters(row, OF_REQUEST) },
        }
    }
}

impl<'a> Message<'a> {
    fn take(object: &mut Object<'a>, blocks: Vec<Raw<'a>>) -> Self {
        object.ignore(&["content", "session_id"]);
        let visible = object.within("metadata", |metadata| {
            metadata.ignore(&["agentVisible"]);
            metadata.bool("userVisible")
        });
        let take = |raw: Raw<'a>| {
            let Some(mut block) = value::object(raw) else {
                return Block::Unknown("not an object".into(), raw);
            };
            let kind = block.str("type").unwrap_or_default();
            let Some(taken) = Block::take(&kind, &mut block, raw) else {
                return Block::Unknown(kind, raw);
            };
            object.adopt("content", block);
            taken
        };
        let blocks = blocks.into_iter().map(take).collect();
        Self {
            id: object.text("id"),
            is_user: object.str("role").as_deref() == Some("user"),
            is_hidden: visible.flatten() == Some(false),
            blocks,
        }
    }
}

impl<'a> Block<'a> {
    /// Takes a block; `None` for an unknown type.
    fn take(kind: &str, block: &mut Object<'a>, raw: Raw<'a>) -> Option<Self> {
        Some(match kind {
            "text" => Self::Text(block.text("text")?),
            "image" => {
                *block = Object::default();
                Self::Image(raw)
            }
            "thinking" => {
                block.ignore(&["signature"]);
                Self::Thinking(block.text("thinking")?)
            }
            "redactedThinking" => {
                *block = Object::default();
                Self::Silent
            }
            "toolRequest" | "frontendToolRequest" => {
                let id = block.corr_id("id");
                block.within("toolCall", |call| {
                    call.ignore(&["status"]);
                    let value =
                        |value: &mut Object<'a>| (value.str("name"), value.raw("arguments"));
                    match call.within("value", value) {
                        Some((name, arguments)) => {
                            let name = name.unwrap_or_default();
                            Self::Call(Call { id, name, arguments })
                        }
                        None => Self::InvalidCall(call.text("error").unwrap_or_default()),
                    }
                })?
            }
            "toolResponse" => {
                let call = block.corr_id("id");
                let answer = |result: &mut Object<'a>| {
                    let has_failed = result.str("status").as_deref() == Some("error");
                    let error = result.text("error");
                    let body = result.within("value", |value| {
                        (value.raw("content"), value.bool("isError").unwrap_or_default())
                    });
                    // An older release has the list itself.
                    let (content, is_error) = body.unwrap_or_else(|| (result.raw("value"), false));
                    Answer { call, is_error: has_failed || is_error, content, error }
                };
                Self::Answer(block.within("toolResult", answer)?)
            }
            "toolConfirmationRequest" | "actionRequired" | "systemNotification" => {
                let fields = std::mem::take(block).into_extra();
                Self::Notice(kind.into(), fields.collect())
            }
            _ => return None,
        })
    }
}
