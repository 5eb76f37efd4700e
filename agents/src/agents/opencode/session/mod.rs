//! The sessions that opencode keeps in its database, as `opencode export` prints them.

mod row;
mod types;

use std::{path::Path, sync::Arc};

use foldline::source::Opener;
use serde::{Deserialize, Serialize};

pub(super) use self::types::UserCommand;
use self::types::{Message, Part, SessionDocument, SessionPart};
use crate::{
    Documents,
    opencode::result::{self, Cx, OpencodeResult},
    prelude::*,
    recogniser::nested,
};

/// A session: one document, `{"info":{..},"messages":[{"info":{..},"parts":[..]}]}`.
///
/// - Each message states its tokens and its cost; its steps state them once more.
/// - A call is in the state in which it was when the document was written.
/// - Messages that the user took back stay in the conversation.
/// - A message of opencode 2 is a row, `{"type":"assistant","content":[..],..}`, among messages of the older form if the
///   database has both.
/// - A fork copies messages under new ids. The identity of a request is made of what a copy repeats: its times, its model
///   and its tokens.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpencodeSession {
    /// Whether the database is that of Kilo Code, which has the tables of opencode.
    is_kilo: bool,
}

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpencodeSessionMemory {
    /// The agent of the latest message: `build`, `plan`.
    agent: Option<Text>,
}

impl Executor for OpencodeSession {
    const FORMAT: Format = Format::new("opencode-session", "opencode, session", "opencode")
        .with_tested("2.0.21")
        .with_homes(&[
            // The storage of older releases stays where it was after its sessions were moved to the database.
            // Each channel of releases has a database.
            "${XDG_DATA_HOME:-~/.local/share}/opencode/opencode*.db \
             || ${XDG_DATA_HOME:-~/.local/share}/opencode/storage/session",
            "${OPENCODE_DB:-~/.local/share/opencode/opencode.db}",
            "${XDG_DATA_HOME:-~/.local/share}/kilo/kilo.db",
            "${KILO_DB:-~/.local/share/kilo/kilo.db}",
        ]);
    type Line<'a> = SessionDocument<'a>;
    type Result = OpencodeResult;
    type Memory = OpencodeSessionMemory;

    fn of_file(&self, path: &Path, _: Beside<'_>) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        (name.starts_with("kilo") && name.ends_with(".db")).then_some(Self { is_kilo: true })
    }

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        let documents = Documents {
            is_one: |_, fields| {
                ["info", "messages"].iter().all(|name| fields.iter().any(|it| it == name))
            },
            recognised_by: &["info"],
            list: "messages",
            volatile: &[],
            line: 4 << 20,
        };
        vec![
            #[cfg(feature = "databases")]
            Arc::new(super::OpencodeSource),
            Arc::new(documents),
        ]
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let info = nested(object, "info").unwrap_or_default();
        let is_session = info.has_all(&["id", "time"]) && info.has_any(&["projectID", "directory"]);
        Evidence::certain_if(is_session && object.has("messages"))
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        nested(object, "info")?.get_str("id")
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<SessionDocument<'a>> {
        if self.recognise(object) != Evidence::Certain {
            return Parsed::Unknown;
        }
        header.name = "session".into();
        Parsed::Line(SessionDocument::take(object))
    }

    fn line(&self, line: Self::Line<'_>, extra: Extra, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        let SessionDocument { mut facts, messages, reverted_to } = line;
        facts.agent = self.is_kilo.then(|| "kilo".into());
        cx.at = facts.started_at;
        cx.session(facts);
        if !extra.is_empty() {
            cx.entry(NormalizedEntryType::SystemMessage, "session", extra);
        }
        let last = messages.len().saturating_sub(1);
        for (index, message) in messages.into_iter().enumerate() {
            cx.at = message.created_at.or(cx.at);
            memory.message(message, index == last, cx);
        }
        if let Some(message) = reverted_to {
            let text = format!("withdrawn: message {message} and all after it");
            cx.entry(NormalizedEntryType::SystemMessage, text, ());
        }
    }
}

impl OpencodeSessionMemory {
    fn message(&mut self, message: Message<'_>, is_last: bool, cx: &mut Cx<'_>) {
        let Message { id, is_user, is_summary, created_at, completed_at, cwd, .. } = message;
        let extra = cx.unknown_fields("message", &message.unknown);
        let mut meta = Meta { message_id: id.clone(), model: None, extra };
        if cwd.is_some() {
            cx.session(Session { cwd, ..Session::default() });
        }
        if message.agent.is_some() && self.agent != message.agent {
            self.agent = message.agent;
            let agent = self.agent.as_ref().map(Text::decode).unwrap_or_default();
            cx.entry(NormalizedEntryType::SystemMessage, format!("agent: {agent}"), ());
        }
        let known = cx.known();
        // Another model may write a summary.
        let is_changed = known.model != message.model || known.provider != message.provider;
        if is_changed && !is_summary {
            let (model, provider) = (message.model.clone(), message.provider);
            cx.session(Session { model, provider, ..Session::default() });
        }
        let author = match is_user {
            true => NormalizedEntryType::UserMessage,
            false if is_summary => NormalizedEntryType::SystemMessage,
            false => NormalizedEntryType::AssistantMessage,
        };
        for part in message.parts {
            cx.at = part.at.or(created_at).or(cx.at);
            show(part, &author, &mut meta, cx);
        }
        cx.at = completed_at.or(created_at).or(cx.at);
        cx.usage_of_message(message.request.or(id), message.model, message.usage);
        match message.error {
            Some(error) if is_last => result::run_failed(error, meta.next(), cx),
            Some(error) => {
                result::error(error, meta.next(), cx);
            }
            None if is_last => result::run_ended(message.finish.or(message.end), cx),
            None => {}
        }
        if !meta.extra.is_empty() {
            cx.entry(NormalizedEntryType::SystemMessage, "message", meta);
        }
    }
}

fn show(part: Part<'_>, author: &NormalizedEntryType, meta: &mut Meta, cx: &mut Cx<'_>) {
    let more = cx.unknown_fields("part", &part.unknown);
    meta.extra.extend(more);
    match part.kind {
        SessionPart::Text { text, .. } if text.is_empty() => {}
        SessionPart::Text { text, is_notice: true } => {
            cx.entry(NormalizedEntryType::SystemMessage, text, meta.next());
        }
        SessionPart::Text { text, is_notice: false } => cx.entry(author.clone(), text, meta.next()),
        SessionPart::Reasoning(text) if text.is_empty() => {}
        SessionPart::Reasoning(text) => cx.entry(NormalizedEntryType::Thinking, text, meta.next()),
        SessionPart::Begun(call) => result::call_begun(&call, meta.next(), cx),
        SessionPart::Ended(call) => result::call_ended(*call, meta.next(), cx),
        SessionPart::File(file) => {
            cx.entry(author.clone(), result::file(&file), meta.next());
        }
        SessionPart::Command(command) => result::command_ran(command, meta.next(), cx),
        SessionPart::Compaction(summary) => {
            let text = summary.map_or("context compacted".into(), |summary| {
                Content::from(format!("compaction: {summary}"))
            });
            cx.entry(NormalizedEntryType::Compaction, text, meta.next());
        }
        SessionPart::Notice(text) => {
            cx.entry(NormalizedEntryType::SystemMessage, text, meta.next());
        }
        SessionPart::Retry(error) => {
            result::error(error, meta.next(), cx);
        }
        SessionPart::Silent => {}
        SessionPart::Unknown { name, raw } => cx.unknown_block(&name, raw),
    }
}
