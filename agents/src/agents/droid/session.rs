//! Droid's session files: `~/.factory/sessions/<project>/<session>.jsonl`.
//!
//! The tokens of a session are in the settings file next to it, which is a separate format.

use crate::{
    droid::{message::BlockMessage, result::DroidResult},
    prelude::*,
    recogniser::nested,
};

/// Droid's session files.
#[derive(Clone, Copy, Debug, Default)]
pub struct DroidSession;

type Cx<'s> = Context<'s, DroidResult>;

impl Executor for DroidSession {
    const FORMAT: Format = Format::new("droid-session", "Factory Droid, session file", "droid")
        .with_homes(&["~/.factory/sessions"])
        .with_companion(super::settings::ENDING);
    type Line<'a> = SessionJson<'a>;
    type Result = DroidResult;
    type Memory = ();

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
            "session_start" => object.has_all(&["id", "version", "cwd"]),
            // Messages of Pi have the same fields, and more.
            "message" => nested(object, "message").is_some_and(|message| {
                object.has("id") && !message.has_any(&["provider", "timestamp", "toolCallId"])
            }),
            "todo_state" => object.has_all(&["id", "todos"]),
            "compaction_state" => object.has_all(&["id", "summaryText"]),
            _ => false,
        })
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<SessionJson<'a>> {
        SessionJson::parse(object, header)
    }

    fn line(&self, line: SessionJson<'_>, extra: Extra, _memory: &mut (), cx: &mut Cx<'_>) {
        match line {
            SessionJson::Start(facts) => cx.session(Session { started_at: cx.at, ..*facts }),
            SessionJson::Message(line) => line.tell(extra, None, cx),
            SessionJson::Compaction(summary, counts) => {
                let extra = [counts, extra].concat();
                let content = format!("context compacted\n{summary}");
                cx.entry(NormalizedEntryType::Compaction, content.trim_end(), extra);
            }
            SessionJson::End { of, word, fields } => ended(of, word, fields, cx),
        }
    }
}

fn ended(of: &str, word: Option<Text>, fields: Extra, cx: &mut Cx<'_>) {
    let outcome = word.as_ref().and_then(|word| outcome_of(&word.decode()));
    let content = match &word {
        Some(word) => format!("{of} ended: {word}"),
        None => format!("{of} ended"),
    };
    let ended_at = cx.at;
    cx.session(Session { outcome, outcome_reason: word, ended_at, ..Session::default() });
    cx.entry(NormalizedEntryType::SystemMessage, content, fields);
}

fn outcome_of(word: &str) -> Option<Outcome> {
    Some(match word {
        "success" | "completed" | "complete" | "done" => Outcome::Success,
        "error" | "failed" | "failure" => Outcome::Failed,
        "cancelled" | "canceled" | "aborted" | "interrupted" => Outcome::Cancelled,
        word if word.contains("limit") => Outcome::LimitReached,
        _ => return None,
    })
}

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
    let call = object.corr_id("callingToolUseId");
    let is_own = object.bool("isSessionTitleManuallySet").unwrap_or(false);
    let title = object.text("title");
    let own_title = object.text("sessionTitle").filter(|_| is_own);
    Session {
        session_id: object.str("id").map(SessionId::from),
        // The first prompt, or the user's title for the session.
        title: own_title.or(title),
        cwd: object.text("cwd"),
        parent: object
            .str("callingSessionId")
            .map(|id| Box::new(Parent::of_agent(&*id).with_call(call))),
        ..Session::default()
    }
}
