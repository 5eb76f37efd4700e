//! The wire types of session files, versions 1 to 3.

use foldline_domain::NormalizedEntryType::{Compaction, SystemMessage};

use crate::{
    content::Blocks,
    dialect::{
        notice::{self, Notice, Said},
        usage::{take_counters, with_cache},
    },
    prelude::*,
};

/// One record.
#[derive(Clone, Debug)]
pub enum PiLine<'a> {
    /// `session`, `model_change`, `thinking_level_change`, `session_info`: facts of the session.
    Facts(Box<Session>),
    /// A record with a single message.
    Said(Said),
    /// A record that only OpenClaw writes.
    OpenClaw,
    /// A message of the person.
    Prompt(Raw<'a>),
    /// A message of the agent.
    Message(Box<Message<'a>>),
    /// The result of a call.
    Answer(Answer<'a>),
    /// `!command`: a command that the person ran.
    Command(PersonCommand),
}

/// A message of the agent.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The id of the record, by which copies are known.
    record: Option<Text>,
    /// The id of the model's response.
    pub id: Option<Text>,
    pub model: Option<Text>,
    pub provider: Option<Text>,
    pub thoughts: Vec<Text>,
    pub texts: Vec<Text>,
    pub calls: Vec<Call<'a>>,
    /// Blocks of unknown types, by type.
    pub unknown: Vec<(String, Json)>,
    pub error: Option<Text>,
    pub usage: TokenUsage,
    /// Whether it is OpenClaw's repetition of the last message, with the tokens of the whole run.
    pub is_summary: bool,
}

/// A tool call.
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
    /// The applied change.
    pub detail: Option<Text>,
    pub exit_code: Option<i32>,
    pub duration_ms: Option<u64>,
    /// Further details.
    pub facts: Extra,
}

/// A command of the person.
#[derive(Clone, Debug)]
pub struct PersonCommand {
    pub id: Option<Text>,
    pub command: Text,
    pub output: Option<Text>,
    pub exit_code: Option<i32>,
    pub is_cancelled: bool,
}

/// Records with a single message.
const NOTICES: [Notice; 2] = [
    ("compaction", Compaction, "compaction: ", "summary"),
    ("branch_summary", SystemMessage, "branch: ", "summary"),
];

/// Token counters, of which the input excludes cached input.
const COUNTERS: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", "reasoning"];

impl<'a> PiLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let read = match &*header.name {
            "session" => Self::Facts(Box::new(take_header(object, header.at))),
            "model_change" => {
                // Oh My Pi states both in one field.
                let both = object.str("model").unwrap_or_default();
                let (provider, model) = both.split_once('/').unwrap_or_default();
                let stated = |part: &str| Some(Text::from(part)).filter(|part| !part.is_empty());
                Self::facts(Session {
                    model: object.text("modelId").or_else(|| stated(model)),
                    provider: object.text("provider").or_else(|| stated(provider)),
                    ..Session::default()
                })
            }
            "thinking_level_change" => Self::facts(Session {
                reasoning_effort: object.text("thinkingLevel"),
                ..Session::default()
            }),
            "session_info" => {
                Self::facts(Session { title: object.text("name"), ..Session::default() })
            }
            "message" => match Self::message(object, header) {
                Some(read) => read,
                None => return Parsed::Unknown,
            },
            "custom_message" if object.get("display").and_then(value::parse) == Some(true) => {
                let kind = object.str("customType").unwrap_or_default();
                let mut content = Content::from(format!("{kind}: "));
                content.push("", take_texts(object, "content"));
                Self::Said((SystemMessage, content, object.extra(&["details"])))
            }
            "custom" | "custom_message" => {
                let kind = object.get_str("customType").unwrap_or_default();
                if kind != "model-snapshot" && !kind.starts_with("openclaw") {
                    *object = Object::default();
                    return Parsed::Ignored;
                }
                object.ignore(&["customType", "data", "content", "details"]);
                Self::OpenClaw
            }
            // A bookmark in the tree, the fixed title line of a relative of Pi, and tokens that other records state.
            "label" | "title" | "child_usage_attributed" => {
                *object = Object::default();
                return Parsed::Ignored;
            }
            name => match notice::take(&NOTICES, name, object) {
                Some(said) => Self::Said(said),
                None => return Parsed::Unknown,
            },
        };
        object.ignore(&["id", "parentId", "display"]);
        Parsed::Line(read)
    }

    fn facts(facts: Session) -> Self {
        Self::Facts(Box::new(facts))
    }

    fn message(object: &mut Object<'a>, header: &mut Header<'a>) -> Option<Self> {
        let role = value::object(object.get("message")?)?.get_str("role")?;
        let record = object.get_str("id").map(Text::from);
        let known = ["user", "assistant", "toolResult", "bashExecution"];
        let notices = ["custom", "hookMessage", "branchSummary", "compactionSummary"];
        if !known.contains(&&*role) && !notices.contains(&&*role) {
            header.name = format!("message/{role}").into();
            return None;
        }
        object.within("message", |message| {
            message.ignore(&["role", "timestamp"]);
            Some(match &*role {
                "user" => Self::Prompt(message.raw("content")?),
                "assistant" => Self::Message(Box::new(Message::take(record, message))),
                "toolResult" => Self::Answer(Answer::take(message)),
                "bashExecution" => Self::Command(PersonCommand::take(record, message)?),
                _ => {
                    let field = if message.has("summary") { "summary" } else { "content" };
                    let text = take_texts(message, field);
                    let facts = message.extra(&["fromId", "tokensBefore", "customType", "details"]);
                    Self::Said((SystemMessage, text, facts))
                }
            })
        })?
    }
}

fn take_header(object: &mut Object<'_>, at: Option<Timestamp>) -> Session {
    let parent = object.str("parentSession").or_else(|| object.str("branchedFrom"));
    object.ignore(&["version", "titleSource"]);
    Session {
        title: object.text("title"),
        session_id: object.str("id").map(SessionId::from),
        cwd: object.text("cwd"),
        model: object.text("modelId"),
        provider: object.text("provider"),
        reasoning_effort: object.text("thinkingLevel"),
        parent: parent.map(|parent| Box::new(Parent::of_fork(id_of_file(&parent)))),
        started_at: at,
        ..Session::default()
    }
}

/// The id of a session, from the path of its file, `<time>_<id>.jsonl`, or the id itself.
fn id_of_file(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    name.rsplit_once('_').map_or(name, |(_, id)| id)
}

/// Takes a text, or the texts of blocks.
fn take_texts(given: &mut Object<'_>, field: &str) -> Content {
    given.raw(field).map(|raw| Blocks::read(raw).content()).unwrap_or_default()
}

impl<'a> Message<'a> {
    fn take(record: Option<Text>, given: &mut Object<'a>) -> Self {
        let (mut thoughts, mut texts, mut calls, mut unknown) =
            <(Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
        if let Some(text) = given.get("content").and_then(Text::from_raw) {
            given.ignore(&["content"]);
            texts.push(text);
        }
        given.within_each("content", |block| {
            block.ignore(&[
                "textSignature",
                "thinkingSignature",
                "thoughtSignature",
                "partialJson",
            ]);
            match &*block.str("type").unwrap_or_default() {
                "text" => texts.extend(block.text("text").filter(|text| !text.is_empty())),
                "thinking" => {
                    let redacted = block.bool("redacted").unwrap_or_default();
                    let thought = block.text("thinking").filter(|text| !text.is_empty());
                    thoughts.extend(thought.or_else(|| redacted.then(|| "[redacted]".into())));
                }
                "toolCall" => calls.push(Call {
                    id: block.corr_id("id"),
                    name: block.str("name").unwrap_or_default(),
                    arguments: block.raw("arguments"),
                }),
                kind => {
                    let rest: Extra = std::mem::take(block).into_extra().collect();
                    let rest = foldline_json::to_string(
                        &rest.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
                    );
                    let rest = rest.ok().and_then(|rest| serde_json::from_str(&rest).ok());
                    unknown.push((kind.to_owned(), rest.unwrap_or_default()));
                }
            }
        });
        let api = given.str("api").unwrap_or_default();
        let reason = given.str("stopReason").unwrap_or_default();
        let stated = given.text("errorMessage").filter(|text| !text.is_empty());
        let has_failed = matches!(&*reason, "error" | "aborted");
        let error = stated.or_else(|| has_failed.then(|| Text::from(&*reason)));
        let id = given.text("responseId");
        given.ignore(&["responseModel", "responseProvider"]);
        Self {
            is_summary: api == "cli" && id.is_none(),
            record,
            id,
            model: given.text("model"),
            provider: given.text("provider"),
            thoughts,
            texts,
            calls,
            unknown,
            error,
            usage: given.within("usage", take_usage).unwrap_or_default(),
        }
    }

    /// The key of the message in all files: copies of it have the same id and time.
    pub(super) fn key(&self, at: Option<Timestamp>) -> Option<Text> {
        let at = at.map(Timestamp::as_millis).unwrap_or_default();
        let by_record = || {
            let record = self.record.as_ref().map(Text::decode).unwrap_or_default();
            (at != 0).then(|| format!("pi {record} {at}").into())
        };
        self.id.clone().or_else(by_record)
    }
}

fn take_usage(given: &mut Object<'_>) -> TokenUsage {
    let mut usage = with_cache(take_counters(given, COUNTERS));
    given.ignore(&["totalTokens", "cacheWrite1h"]);
    usage.cost_usd = given.object("cost").and_then(|mut cost| cost.f64("total"));
    usage
}

impl<'a> Answer<'a> {
    fn take(given: &mut Object<'a>) -> Self {
        given.ignore(&["toolName"]);
        let mut taken = Self {
            call: given.corr_id("toolCallId"),
            is_error: given.bool("isError").unwrap_or_default(),
            content: given.raw("content"),
            detail: None,
            exit_code: None,
            duration_ms: None,
            facts: Extra::new(),
        };
        if let Some(mut details) = given.object("details") {
            taken.detail = details.text("diff");
            taken.exit_code = details.take("exitCode", value::parse);
            taken.duration_ms = details.u64("durationMs");
            // The output again, the change again, and the folder of the session.
            details.ignore(&["aggregated", "patch", "firstChangedLine", "cwd", "tool"]);
            let status = details.get_str("status");
            taken.is_error |= status.as_deref() == Some("error");
            details.ignore(&["status"]);
            taken
                .facts
                .extend(details.into_extra().map(|(name, json)| (format!("details.{name}"), json)));
        }
        taken
    }
}

impl PersonCommand {
    fn take(id: Option<Text>, given: &mut Object<'_>) -> Option<Self> {
        given.ignore(&["truncated", "fullOutputPath", "excludeFromContext"]);
        Some(Self {
            id,
            command: given.text("command")?,
            output: given.text("output"),
            exit_code: given.take("exitCode", value::parse),
            is_cancelled: given.bool("cancelled").unwrap_or_default(),
        })
    }
}
