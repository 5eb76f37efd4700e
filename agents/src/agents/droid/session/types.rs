//! The wire types of Droid's session files.

use crate::{droid::message::BlockMessage, prelude::*};

/// One record of the file.
#[derive(Clone, Debug)]
pub enum SessionJson<'a> {
    /// `session_start`: the first line.
    Start(Box<Session>),
    /// `message`.
    Message(Box<BlockMessage<'a>>),
    /// `compaction_state`: the history was replaced by this summary.
    Compaction(Text, Extra),
    /// `agent_turn_outcome` or `session_end`: how a turn or the session ended.
    End {
        /// `turn` or `session`.
        of: &'static str,
        /// The outcome in the log's own word.
        word: Option<Text>,
        /// All other fields of the record.
        fields: Extra,
    },
}

impl<'a> SessionJson<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &Header<'a>) -> Parsed<Self> {
        Parsed::Line(match &*header.name {
            "session_start" => Self::Start(Box::new(take_start(object))),
            // Messages of the stream have their text next to the type: another format.
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
                object.ignore(&["id", "parentId", "summaryKind", "anchorMessage"]);
                let counts = object.extra(&["removedCount", "summaryTokens"]);
                Self::Compaction(object.text("summaryText").unwrap_or_default(), counts)
            }
            "agent_turn_outcome" => Self::take_end("turn", object),
            "session_end" => Self::take_end("session", object),
            _ => return Parsed::Unknown,
        })
    }

    /// No sample of these lines is available: the likely word is taken, and all other fields are kept.
    fn take_end(of: &'static str, object: &mut Object<'_>) -> Self {
        let word = ["outcome", "status", "reason"].into_iter().find_map(|key| object.text(key));
        object.ignore(&["type", "id", "parentId"]);
        Self::End { of, word, fields: std::mem::take(object).into_extra().collect() }
    }
}

fn take_start(object: &mut Object<'_>) -> Session {
    // `version` is the version of the file, not of the program.
    object.ignore(&["owner", "version", "hostId"]);
    let is_own = object.bool("isSessionTitleManuallySet").unwrap_or(false);
    let title = object.text("title");
    let own_title = object.text("sessionTitle").filter(|_| is_own);
    Session {
        session_id: object.str("id").map(SessionId::from),
        // The first prompt, or the user's title for the session.
        title: own_title.or(title),
        cwd: object.text("cwd"),
        parent_session_id: object.str("callingSessionId").map(SessionId::from),
        ..Session::default()
    }
}
