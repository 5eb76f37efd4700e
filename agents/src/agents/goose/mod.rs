//! Goose: the sessions in its database, and the files in which releases before 1.10 kept one session each.
//!
//! - The database, `sessions.db`, has the tables `sessions`, `messages` and, in newer releases, `usage_ledger`. Its content
//!   is read as the lines of the older files: a line with the facts of a session, then one for each message.
//! - The first program with a database imports the files, and leaves them. The name of a file is the id of its session.

mod action_mapper;
#[cfg(feature = "databases")]
mod source;
mod types;

use std::{path::Path, sync::Arc};

use foldline::source::Opener;

#[cfg(feature = "databases")]
pub use self::source::GooseSource;
use self::types::{Answer, Block, Call, GooseLine, Message, SessionLine};
use crate::{
    dialect::textual_result::{self, TextualResult},
    prelude::*,
};

/// The sessions of Goose.
///
/// The ledger states the tokens of each request. Without it, the facts of a session state those of the whole session, up
/// to its last change.
#[derive(Clone, Debug, Default)]
pub struct Goose {
    /// The session of a file.
    session: Option<SessionId>,
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for Goose {
    const FORMAT: Format = Format::new("goose", "Goose, sessions", "goose").with_homes(&[
        "${XDG_DATA_HOME:-~/.local/share}/goose/sessions",
        "${GOOSE_PATH_ROOT:-~/.local/share/goose}/data/sessions",
        "${APPDATA:-~/AppData/Roaming}/Block/goose/data/sessions",
    ]);
    type Line<'a> = GooseLine<'a>;
    type Result = TextualResult;
    type Memory = ();

    fn of_file(&self, path: &Path, _: Beside<'_>) -> Option<Self> {
        // The name may have another ending, of a compressed file.
        let (stem, _) = path.file_name()?.to_str()?.split_once(".jsonl")?;
        Some(Self { session: Some(SessionId::from(stem)) })
    }

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        vec![
            #[cfg(feature = "databases")]
            Arc::new(GooseSource),
        ]
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        if object.has("working_dir") {
            let is_session = object.has_any(&["description", "name"])
                && object.has_any(&["message_count", "extension_data", "session_type"]);
            return Evidence::certain_if(is_session);
        }
        let is_bare = !object.has_any(&["type", "timestamp", "message"]);
        Evidence::possible_if(is_bare && object.has_all(&["role", "created", "content"]))
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str("session_id")
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<GooseLine<'a>> {
        GooseLine::parse(object, header)
    }

    fn line(&self, line: GooseLine<'_>, extra: Extra, (): &mut (), cx: &mut Cx<'_>) {
        match line {
            GooseLine::Session(line) => self.facts(*line, extra, cx),
            GooseLine::Message(message) => say(message, extra, cx),
        }
    }
}

impl Goose {
    fn facts(&self, line: SessionLine, extra: Extra, cx: &mut Cx<'_>) {
        let SessionLine { mut facts, requests } = line;
        facts.session_id = self.session.clone().or(facts.session_id);
        cx.at = facts.started_at;
        cx.session(facts);
        if !extra.is_empty() {
            cx.entry(NormalizedEntryType::SystemMessage, "session", extra);
        }
        // The file of an imported session states some of the tokens once more.
        let id = cx.known().session_id.as_ref().map(|id| Text::from(format!("goose:{id}")));
        for request in requests {
            cx.at = request.at.or(cx.at);
            let model = request.model.or_else(|| cx.known().model.clone());
            cx.usage_of_message(id.clone(), model, request.usage);
        }
    }
}

/// Emits a message.
fn say(message: Message<'_>, extra: Extra, cx: &mut Cx<'_>) {
    let Message { id, is_user, is_hidden, blocks } = message;
    let mut meta = Meta { message_id: id, model: None, extra };
    let author = match is_user {
        // Written for the model by the program.
        _ if is_hidden => NormalizedEntryType::SystemMessage,
        true => NormalizedEntryType::UserMessage,
        false => NormalizedEntryType::AssistantMessage,
    };
    for block in blocks {
        match block {
            Block::Text(text) => cx.entry(author.clone(), text, meta.next()),
            Block::Image(image) => {
                let (content, more) = cx.content("content", image);
                meta.extra.extend(more);
                cx.entry(author.clone(), content, meta.next());
            }
            Block::Thinking(text) => cx.entry(NormalizedEntryType::Thinking, text, meta.next()),
            Block::Call(Call { id, name, arguments }) => {
                let call = action_mapper::map(&name, arguments, cx.cwd().as_deref());
                cx.call(id, &name, call, meta.next());
            }
            Block::InvalidCall(error) => {
                cx.entry(NormalizedEntryType::ErrorMessage, error, meta.next());
            }
            Block::Answer(answer) => end(answer, cx),
            Block::Notice(text, more) => {
                meta.extra.extend(more);
                cx.entry(NormalizedEntryType::SystemMessage, text, meta.next());
            }
            Block::Silent => {}
            Block::Unknown(name, raw) => cx.unknown_block(&name, raw),
        }
    }
    if !meta.extra.is_empty() {
        cx.entry(NormalizedEntryType::SystemMessage, "message", meta);
    }
}

/// Emits the result of a call.
fn end(answer: Answer<'_>, cx: &mut Cx<'_>) {
    let Answer { call, is_error, content, error } = answer;
    let (content, extra) = content.map(|content| cx.content("content", content)).unzip();
    let lines = error.map(Content::from).into_iter().chain(content);
    let result = TextualResult::new(textual_result::status(is_error, false, None), cx.at)
        .with_content(Content::lines(lines))
        .with_extra(extra.unwrap_or_default());
    cx.result(call, result);
}
