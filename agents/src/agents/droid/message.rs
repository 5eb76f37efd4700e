//! Messages of content blocks in session files and stream-jsonrpc.

use super::{
    action_mapper,
    result::{self, DroidResult},
};
use crate::{
    dialect::{
        anthropic::{self, Message, Reader, ToolResult},
        permission,
        streamed::Streamed,
    },
    prelude::*,
};

type Cx<'s> = Context<'s, DroidResult>;

/// A message of content blocks.
#[derive(Clone, Debug, Default)]
pub struct BlockMessage<'a> {
    /// `user`, `assistant`, `tool` or `system`. Results of tools are in messages of the user or of the tool.
    pub role: Cow<'a, str>,
    /// Whether only the model sees it: context that the user did not type.
    pub hidden: bool,
    pub model: Option<Text>,
    pub reasoning_effort: Option<Text>,
    pub message: Message<'a>,
}

/// Fields for the program and the model's provider, and the links of the message tree.
const IGNORED: [&str; 15] = [
    "chatCompletionReasoningField",
    "geminiThoughtSignature",
    "hiddenFromUserViews",
    "interactionMode",
    "isParallelExecution",
    "isUserVisible",
    "openaiEncryptedContent",
    "openaiMessageId",
    "openaiPhase",
    "openaiReasoningId",
    "parallelGroupId",
    "parentId",
    "routerId",
    "updatedAt",
    "userMessageSource",
];

impl<'a> BlockMessage<'a> {
    pub(super) fn take(mut message: Object<'a>) -> Self {
        message.ignore(&IGNORED);
        let mut has_visibility = |word: &str| {
            message.take("visibility", |raw| (value::as_str(raw)? == word).then_some(()))
        };
        let hidden = has_visibility("llm_only").is_some();
        let _shown = has_visibility("both").or_else(|| has_visibility("user_only"));
        Self {
            role: message.str("role").unwrap_or_default(),
            hidden,
            model: message.text("modelId"),
            reasoning_effort: message.text("reasoningEffort"),
            message: Message::take(message),
        }
    }

    /// Emits the blocks of the message, without chunks that were already emitted. `extra` goes to its first entry.
    pub(super) fn tell(self, extra: Extra, streamed: Option<&mut Streamed>, cx: &mut Cx<'_>) {
        let Self { role, hidden, model, reasoning_effort, message } = self;
        let mut meta = Meta::from((message.id.clone(), extra));
        match cx.parent {
            None => cx.session(Session { model, reasoning_effort, ..Session::default() }),
            Some(_) => meta.model = model,
        }
        anthropic::read(
            message,
            "message",
            meta,
            &mut Blocks { role: &role, hidden, streamed },
            cx,
        );
    }
}

struct Blocks<'m> {
    role: &'m str,
    hidden: bool,
    streamed: Option<&'m mut Streamed>,
}

impl Reader<DroidResult> for Blocks<'_> {
    fn text(&mut self, text: Text) -> (NormalizedEntryType, Text) {
        let entry_type = match self.role {
            _ if self.hidden => NormalizedEntryType::SystemMessage,
            "assistant" => NormalizedEntryType::AssistantMessage,
            "user" if !is_reminder(&text) => NormalizedEntryType::UserMessage,
            _ => NormalizedEntryType::SystemMessage,
        };
        (entry_type, text)
    }

    fn call(&mut self, name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
        action_mapper::map(name, input, cwd)
    }

    fn result(&mut self, answer: ToolResult<'_>, extra: Extra, cx: &mut Cx<'_>) -> DroidResult {
        let call = answer.id.as_ref().and_then(|id| cx.calls().get(id));
        let refusal = call.and_then(permission::refusal).filter(|_| answer.is_error);
        let status = refusal.unwrap_or_else(|| result::status(answer.is_error));
        DroidResult::new(status, cx.at).with_content(answer.body).with_extra(extra)
    }

    fn entry(&mut self, entry: NormalizedEntry, cx: &mut Cx<'_>) {
        match &mut self.streamed {
            Some(streamed) => streamed.say(entry, cx),
            None => cx.push(entry),
        }
    }
}

/// Whether a text is written by the program in the user's name.
fn is_reminder(text: &Text) -> bool {
    let text = text.decode();
    let text = text.trim();
    text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>")
}
