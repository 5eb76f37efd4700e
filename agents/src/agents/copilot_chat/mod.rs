//! GitHub Copilot Chat of Visual Studio Code: the chats that the editor keeps,
//! `<editor>/User/workspaceStorage/<hash>/chatSessions/<id>.jsonl`, or `.json` of older releases.
//!
//! The extension keeps a transcript of the same session, `GitHub.copilot-chat/transcripts/<id>.jsonl`, in the form of
//! Copilot's CLI and without tokens: it is another name of the chat, and is read only where there is no chat. The index at
//! which a change of a list begins has one witness.

mod action_mapper;
mod source;
mod types;

use std::{path::Path, sync::Arc};

use foldline::source::Opener;

pub use self::source::ChatSource;
use self::types::{Call, ChatLine, ChatRequest, Step};
use crate::{dialect::textual_result::TextualResult, prelude::*, recogniser::nested};

/// The field of the line with the facts of a chat.
const CHAT: &str = "copilotChat";

/// The field of a line with a request and its answer.
const REQUEST: &str = "chatRequest";

/// A chat.
///
/// - The rounds of the model state all of an answer; what the person saw counts only without them.
/// - A request states its tokens once, without those that were cached: at least so many were used.
#[derive(Clone, Debug, Default)]
pub struct CopilotChat {
    /// The folder of the workspace, by the file beside the chats.
    cwd: Option<Text>,
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for CopilotChat {
    const FORMAT: Format =
        Format::new("copilot-chat", "GitHub Copilot Chat, session file", "copilot-chat")
            .with_tested("0.40.0")
            .with_homes(editor_folders![
                "workspaceStorage/*/chatSessions",
                "workspaceStorage/*/GitHub.copilot-chat/transcripts",
                "globalStorage/emptyWindowChatSessions",
                "globalStorage/transferredChatSessions";
            ]);
    type Line<'a> = ChatLine<'a>;
    type Result = TextualResult;
    type Memory = ();

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        vec![Arc::new(ChatSource)]
    }

    fn of_file(&self, path: &Path, beside: Beside<'_>) -> Option<Self> {
        let mut folders = path.ancestors().skip(2).take(2);
        let stated = folders.find_map(|folder| beside(&folder.join("workspace.json")))?;
        let folder = Object::parse(&stated).ok()?.str("folder")?.into_owned();
        Some(Self { cwd: Some(files::decode_percent(folder.strip_prefix("file://")?).into()) })
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let is = |field, known| nested(object, field).is_some_and(|it| it.has(known));
        Evidence::certain_if(is(CHAT, "sessionId") || is(REQUEST, "requestId"))
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<ChatLine<'a>> {
        ChatLine::parse(object, header)
    }

    fn line(&self, line: ChatLine<'_>, extra: Extra, (): &mut (), cx: &mut Cx<'_>) {
        match line {
            ChatLine::Facts(facts) => {
                cx.session(Session { cwd: self.cwd.clone(), ..*facts });
                if !extra.is_empty() {
                    cx.entry(NormalizedEntryType::SystemMessage, "chat", extra);
                }
            }
            ChatLine::Request(request) => tell(*request, extra, cx),
        }
    }
}

fn tell(request: ChatRequest<'_>, extra: Extra, cx: &mut Cx<'_>) {
    let ChatRequest { id, prompt, facts, steps, error, is_cancelled, usage } = request;
    let mut meta = Meta { message_id: id.clone(), model: None, extra };
    if facts.version != cx.known().version || facts.model != cx.known().model {
        cx.session(*facts);
    }
    cx.entry(NormalizedEntryType::UserMessage, prompt, meta.next());
    for (at, step) in steps {
        cx.at = at.or(cx.at);
        match step {
            Step::Thinking(text) => cx.entry(NormalizedEntryType::Thinking, text, meta.next()),
            Step::Text(text) => cx.entry(NormalizedEntryType::AssistantMessage, text, meta.next()),
            Step::Call(call) => show(call, meta.next(), cx),
            Step::Unknown { name, raw } => cx.unknown_block(&name, raw),
        }
    }
    if let Some(error) = error {
        cx.entry(NormalizedEntryType::ErrorMessage, error, meta.next());
    }
    if is_cancelled {
        cx.entry(NormalizedEntryType::SystemMessage, "cancelled", meta.next());
    }
    cx.usage_of_message(id, cx.known().model.clone(), usage);
}

fn show(call: Call<'_>, meta: Meta, cx: &mut Cx<'_>) {
    let Call { id, name, arguments, title, command, result } = call;
    let arguments = arguments.unwrap_or_default();
    let mapped = match (title.is_some(), Raw::parse(&arguments).ok()) {
        (true, _) => action_mapper::shown(&name, title, command),
        (false, Some(given)) => action_mapper::map(&name, Some(given), cx.cwd().as_deref()),
        (false, None) => {
            let extra = vec![("arguments".to_owned(), Text::from(arguments).into())];
            MappedCall { extra, ..MappedCall::tool(&name, None) }
        }
    };
    cx.call(id.clone(), &name, mapped, meta);
    if let Some((status, body)) = result {
        // The time of a result is not stated.
        cx.result(id, TextualResult::new(status, None).with_body(body));
    }
}
