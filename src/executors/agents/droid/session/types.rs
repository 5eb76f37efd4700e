//! The wire types of Droid's session files.

use crate::{
    conversation::{SessionId, Text},
    executors::{Extra, Header, Parsed, droid::message::BlockMessage, wire::Object},
};

/// One record of the file.
#[derive(Clone, Debug)]
pub enum SessionJson<'a> {
    /// `session_start`: the first line.
    Start(SessionStart),
    /// `message`.
    Message(Box<BlockMessage<'a>>),
    /// `compaction_state`: the history was replaced by this summary.
    Compaction(Text),
    /// `agent_turn_outcome` or `session_end`: how a turn or the session ended.
    End(SessionEnd),
}

/// The end of a turn or of the session.
#[derive(Clone, Debug)]
pub struct SessionEnd {
    /// `turn` or `session`.
    pub of: &'static str,
    /// How it ended, in the log's word for it.
    pub word: Option<Text>,
    /// Everything else that the record says.
    pub fields: Extra,
}

/// The session's facts.
#[derive(Clone, Debug, Default)]
pub struct SessionStart {
    /// The session's id.
    pub id: Option<SessionId>,
    /// Its title: the first prompt, or what the person called it.
    pub title: Option<Text>,
    /// The directory that the agent works in.
    pub cwd: Option<Text>,
    /// The session that started this one as a sub-agent.
    pub parent: Option<SessionId>,
}

impl<'a> SessionJson<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &Header<'a>) -> Parsed<Self> {
        Parsed::Line(match &*header.name {
            "session_start" => Self::Start(SessionStart::take(object)),
            // The stream's messages have their text beside the type: another format.
            "message" => match object.object("message") {
                Some(message) => {
                    let mut line = BlockMessage::take(message);
                    object.ignore(&["parentId"]);
                    line.message.id = object.text("id");
                    Self::Message(Box::new(line))
                }
                None => return Parsed::Foreign,
            },
            // Repeats the list of the last `TodoWrite` call.
            "todo_state" => {
                object.ignore(&["id", "parentId", "todos", "messageIndex"]);
                return Parsed::Ignored;
            }
            "compaction_state" => {
                object.ignore(&["id", "parentId", "summaryTokens", "summaryKind"]);
                object.ignore(&["anchorMessage", "removedCount"]);
                Self::Compaction(object.text("summaryText").unwrap_or_default())
            }
            "agent_turn_outcome" => Self::End(SessionEnd::take("turn", object)),
            "session_end" => Self::End(SessionEnd::take("session", object)),
            _ => return Parsed::Unknown,
        })
    }
}

impl SessionEnd {
    /// No sample of these lines was found: the likely word is taken, and everything else is kept.
    fn take(of: &'static str, object: &mut Object<'_>) -> Self {
        let word = ["outcome", "status", "reason"].into_iter().find_map(|key| object.text(key));
        object.ignore(&["type", "id", "parentId"]);
        Self { of, word, fields: std::mem::take(object).into_extra().collect() }
    }
}

impl SessionStart {
    fn take(object: &mut Object<'_>) -> Self {
        let title = object.text("title");
        let own_title = object.text("sessionTitle");
        let is_own = object.bool("isSessionTitleManuallySet").unwrap_or(false);
        let start = Self {
            id: object.str("id").map(SessionId::from),
            title: own_title.filter(|_| is_own).or(title),
            cwd: object.text("cwd"),
            parent: object.str("callingSessionId").map(SessionId::from),
        };
        // `version` is the file's, not the program's.
        object.ignore(&["owner", "version", "hostId"]);
        start
    }
}
