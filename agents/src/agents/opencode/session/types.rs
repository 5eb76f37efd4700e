//! The wire types of a session: one document.

use super::row;
use crate::{
    agents::opencode::types::{Attachment, Counts, OpencodeError, ToolUse, take_text},
    prelude::*,
    recogniser::nested,
};

/// A session.
#[derive(Clone, Debug)]
pub struct SessionDocument<'a> {
    pub facts: Session,
    pub messages: Vec<Message<'a>>,
    /// The first message that the user took back.
    pub reverted_to: Option<Text>,
}

/// A message.
#[derive(Clone, Debug, Default)]
pub struct Message<'a> {
    pub id: Option<Text>,
    pub is_user: bool,
    /// Whether it is the summary that replaces the messages before it.
    pub is_summary: bool,
    pub created_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub agent: Option<Text>,
    pub model: Option<Text>,
    pub provider: Option<Text>,
    /// The folder in which the session continues.
    pub cwd: Option<Text>,
    pub usage: TokenUsage,
    /// The identity of its request.
    pub request: Option<Text>,
    /// `stop`, `tool-calls`, `length`, ..
    pub finish: Option<Cow<'a, str>>,
    pub error: Option<OpencodeError<'a>>,
    /// The end of a turn: `succeeded`, `failed`, `interrupted`.
    pub end: Option<Cow<'a, str>>,
    pub parts: Vec<Part<'a>>,
    pub unknown: Fields<'a>,
}

/// A part of a message.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    pub at: Option<Timestamp>,
    pub kind: SessionPart<'a>,
    pub unknown: Fields<'a>,
}

#[derive(Clone, Debug)]
pub enum SessionPart<'a> {
    Text {
        text: Text,
        /// Whether the program wrote it in the name of the message's author.
        is_notice: bool,
    },
    Reasoning(Text),
    /// A call without a result.
    Begun(Box<ToolUse<'a>>),
    /// A call with its result.
    Ended(Box<ToolUse<'a>>),
    File(Attachment<'a>),
    /// A command that the user ran.
    Command(UserCommand),
    /// An event that is stated as a text.
    Notice(String),
    /// A compaction, with its summary if the log states it here.
    Compaction(Option<Text>),
    /// A request that failed.
    Retry(OpencodeError<'a>),
    /// A part without content.
    Silent,
    Unknown {
        name: Cow<'a, str>,
        raw: Raw<'a>,
    },
}

/// A command that the user ran.
#[derive(Clone, Debug)]
pub struct UserCommand {
    pub id: Option<CorrId>,
    pub command: Option<Text>,
    /// `None` while it runs.
    pub status: Option<ToolStatus>,
    pub output: Option<Text>,
    pub exit_code: Option<i32>,
    pub ended_at: Option<Timestamp>,
}

impl<'a> SessionDocument<'a> {
    pub(super) fn take(object: &mut Object<'a>) -> Self {
        let messages = object.array("messages").unwrap_or_default().into_iter();
        let messages = messages.map(Message::read).collect();
        let (facts, reverted_to) = object.within("info", take_facts).unwrap_or_default();
        Self { facts, messages, reverted_to }
    }
}

fn take_facts(info: &mut Object<'_>) -> (Session, Option<Text>) {
    let facts = Session {
        session_id: info.str("id").map(SessionId::from),
        parent: info
            .str("parentID")
            .map(|id| Parent::of_agent(&*id))
            .or_else(|| info.str("forkSessionID").map(|id| Parent::of_fork(&*id)))
            .map(Box::new),
        title: info.text("title"),
        version: info.text("version"),
        cwd: info.text("directory"),
        authority: take_authority(info).map(Box::new),
        started_at: info
            .within("time", |time| {
                time.ignore(&["updated", "compacting", "archived"]);
                time.timestamp("created")
            })
            .flatten(),
        ..Session::default()
    };
    // Derived from the messages, or configuration.
    info.ignore(&["slug", "projectID", "workspaceID", "path", "summary", "share"]);
    let mut revert = info.object("revert").unwrap_or_default();
    (facts, revert.text("messageID"))
}

/// The rules of a session, which change the user's settings: `deny question, ask bash git push *`. What they allow
/// depends on the settings, which the log does not state.
fn take_authority(info: &mut Object<'_>) -> Option<Authority> {
    let mut rules = Vec::new();
    info.within_each("permission", |rule| {
        let [action, tool, pattern] =
            ["action", "permission", "pattern"].map(|key| rule.str(key).unwrap_or_default());
        let pattern = if pattern == "*" { "" } else { &*pattern };
        rules.push(format!("{action} {tool} {pattern}").trim().to_owned());
    });
    let words = Text::from(rules.join(", "));
    (!rules.is_empty()).then(|| Authority { approval_policy: Some(words), ..Authority::default() })
}

impl<'a> Message<'a> {
    fn read(raw: Raw<'a>) -> Self {
        match value::object(raw) {
            Some(row) if row.has("type") && !row.has("info") => row::read(raw, row),
            Some(message) => Self::take(message),
            None => Self { unknown: vec![("value".into(), raw)], ..Self::default() },
        }
    }

    fn take(mut object: Object<'a>) -> Self {
        let mut info = object.object("info").unwrap_or_default();
        let is_user = info.str("role").as_deref() == Some("user");
        let (created_at, completed_at) = info
            .within("time", |time| (time.timestamp("created"), time.timestamp("completed")))
            .unwrap_or_default();
        let mut chosen = info.object("model").unwrap_or_default();
        let cost_usd = info.f64("cost");
        let counts = info.within("tokens", Counts::take);
        let model = info.text("modelID").or_else(|| chosen.text("modelID"));
        let times = [created_at, completed_at];
        let is_summary = info.bool("summary").unwrap_or_default();
        // References, what the parts repeat, and settings of the request.
        info.ignore(&["sessionID", "parentID", "mode", "path", "summary", "system", "tools"]);
        let parts = object.array("parts").unwrap_or_default().into_iter();
        let parts = parts.map(|raw| Part::read(raw, created_at)).collect();
        let taken = Self {
            id: info.text("id"),
            is_user,
            is_summary,
            created_at,
            completed_at,
            agent: info.text("agent"),
            request: counts.and_then(|counts| counts.request(model.as_ref(), times)),
            model,
            provider: info.text("providerID").or_else(|| chosen.text("providerID")),
            usage: counts.map(|counts| counts.usage(cost_usd)).unwrap_or_default(),
            finish: info.str("finish"),
            error: info.within("error", OpencodeError::take),
            parts,
            ..Self::default()
        };
        object.adopt("", info);
        Self { unknown: object.rest(), ..taken }
    }
}

impl<'a> Part<'a> {
    fn read(raw: Raw<'a>, created_at: Option<Timestamp>) -> Self {
        let mut part = value::object(raw).unwrap_or_default();
        let mut header = Header { at: created_at, ..Header::default() };
        let name = part.str("type").unwrap_or_default();
        let kind = SessionPart::take(&name, &mut part, &mut header);
        let Some(kind) = kind else {
            let (kind, unknown) = (SessionPart::Unknown { name, raw }, Fields::new());
            return Self { at: header.at, kind, unknown };
        };
        // References, the time of calls, and data of the model's provider.
        part.ignore(&["id", "sessionID", "messageID", "metadata", "time"]);
        Self { at: header.at, kind, unknown: part.rest() }
    }
}

impl<'a> SessionPart<'a> {
    /// `None` for an unknown type.
    fn take(name: &str, part: &mut Object<'a>, header: &mut Header<'a>) -> Option<Self> {
        Some(match name {
            "text" => {
                let flags = [part.bool("synthetic"), part.bool("ignored")];
                let is_notice = flags.contains(&Some(true));
                Self::Text { text: take_text(part, header), is_notice }
            }
            "reasoning" => Self::Reasoning(take_text(part, header)),
            "tool" => {
                let state = nested(part, "state").unwrap_or_default();
                let is_open =
                    matches!(&*state.get_str("status").unwrap_or_default(), "pending" | "running");
                let call = Box::new(ToolUse::take(part, header));
                if !is_open {
                    return Some(Self::Ended(call));
                }
                // The second is the beginning of the input as a text.
                part.ignore(&["state.status", "state.raw"]);
                Self::Begun(call)
            }
            "file" => {
                part.ignore(&["source"]);
                Self::File(Attachment::take(part)?)
            }
            "patch" => {
                part.ignore(&["hash"]);
                let files = part.texts("files").unwrap_or_default();
                let files: Vec<_> = files.iter().map(|file| file.decode()).collect();
                Self::Notice(format!("changed files: {}", files.join(", ")))
            }
            "agent" => {
                part.ignore(&["source"]);
                Self::Notice(format!("agent: {}", part.str("name").unwrap_or_default()))
            }
            "subtask" => {
                let agent = part.str("agent").unwrap_or_default();
                let texts = [part.str("description"), part.str("prompt")];
                let texts: Vec<_> = texts.into_iter().flatten().collect();
                Self::Notice(format!("subtask of {agent}: {}", texts.join("\n")))
            }
            "compaction" => {
                part.ignore(&["auto", "overflow"]);
                Self::Compaction(None)
            }
            "retry" => {
                part.ignore(&["attempt"]);
                let at = part.within("time", |time| time.timestamp("created"));
                header.at = at.flatten().or(header.at);
                Self::Retry(part.within("error", OpencodeError::take)?)
            }
            "step-start" | "step-finish" | "snapshot" => {
                // The message states the sums.
                part.ignore(&["snapshot", "reason", "cost", "tokens"]);
                Self::Silent
            }
            _ => return None,
        })
    }
}
