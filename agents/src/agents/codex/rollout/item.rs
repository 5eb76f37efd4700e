//! The wire types of `response_item`: input or output of the model.

use super::prompts;
use crate::{
    codex::{
        result::Status,
        tools::{MakeImage, Tool, WebSearch},
    },
    content::{Blocks, Part},
    prelude::*,
};

/// Input or output of the model.
#[derive(Clone, Debug)]
pub enum ResponseItem<'a> {
    Message(Message<'a>),
    /// `reasoning`: its id, and the parts of the summary, otherwise of the thought itself.
    Reasoning(Option<Text>, Vec<Text>),
    /// `function_call`, `custom_tool_call`, `local_shell_call`, `tool_search_call`.
    Call(Call<'a>),
    /// `function_call_output`, `custom_tool_call_output`, `tool_search_output`.
    Output(Output),
    /// `web_search_call`, `image_generation_call`: run by the model's provider, a call with its result.
    Hosted(Option<CorrId>, Tool<'a>),
    /// `agent_message`: from one agent to another.
    AgentMessage(AgentMessage),
    /// `ghost_snapshot`, `compaction`, `additional_tools`: internal data of the program.
    Nothing,
}

/// A message from one agent to another.
#[derive(Clone, Debug)]
pub struct AgentMessage {
    pub author: Option<Text>,
    pub recipient: Option<Text>,
    /// The unencrypted content.
    pub content: Blocks,
}

/// `message`.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// `user`, `assistant`, `developer`, `system`.
    pub role: Cow<'a, str>,
    pub id: Option<Text>,
    pub content: Blocks,
    /// Blocks that the person did not type, if the message states the kind of each; the others are the content.
    pub context: Option<Blocks>,
}

/// A call of a function or a custom tool.
#[derive(Clone, Debug, Default)]
pub struct Call<'a> {
    pub id: Option<CorrId>,
    /// The MCP server or the group of the tool.
    pub namespace: Option<Cow<'a, str>>,
    pub name: Cow<'a, str>,
    /// The input: text, usually JSON.
    pub input: Option<Raw<'a>>,
}

/// The output of a function or a custom tool.
#[derive(Clone, Debug, Default)]
pub struct Output {
    pub id: Option<CorrId>,
    pub content: Blocks,
    /// Whether it succeeded, if the output states it.
    pub success: Option<bool>,
}

impl<'a> ResponseItem<'a> {
    /// Reads a payload, if its type is known.
    ///
    /// `is_inherited`: the person typed it in the parent's session.
    pub(super) fn take(kind: &str, is_inherited: bool, payload: &mut Object<'a>) -> Option<Self> {
        let item = match kind {
            "message" => Self::Message(Message::take(is_inherited, payload)),
            "reasoning" => Self::Reasoning(payload.text("id"), take_reasoning(payload)),
            "function_call" => Self::Call(Call::take(payload, "arguments")),
            "custom_tool_call" => Self::Call(Call::take(payload, "input")),
            "tool_search_call" => {
                payload.ignore(&["execution"]);
                Self::Call(Call { name: "tool_search".into(), ..Call::take(payload, "arguments") })
            }
            "local_shell_call" => {
                // Without a `call_id`, the item's own id is the call's.
                let own_id = payload.corr_id("id");
                let call = Call::take(payload, "action");
                Self::Call(Call { name: "local_shell".into(), id: call.id.or(own_id), ..call })
            }
            "function_call_output" | "custom_tool_call_output" => {
                Self::Output(Output::take(payload))
            }
            "tool_search_output" => {
                payload.ignore(&["execution", "status"]);
                let id = payload.corr_id("call_id");
                let content = Blocks::from(Text::from(tool_names(payload).join("\n")));
                Self::Output(Output { id, content, success: None })
            }
            "web_search_call" => {
                let id = payload.corr_id("id");
                Self::Hosted(id, Tool::Web(WebSearch::take(payload)))
            }
            "image_generation_call" => {
                let id = payload.corr_id("id");
                Self::Hosted(id, Tool::MakeImage(MakeImage::take(payload)))
            }
            "agent_message" => Self::AgentMessage(AgentMessage::take(payload)),
            "ghost_snapshot" => {
                payload.ignore(&["ghost_commit"]);
                Self::Nothing
            }
            "compaction" | "context_compaction" | "compaction_trigger" | "additional_tools" => {
                payload.ignore(&["encrypted_content", "role", "tools"]);
                Self::Nothing
            }
            _ => return None,
        };
        payload.ignore(&["id", "metadata", "internal_chat_message_metadata_passthrough"]);
        Some(item)
    }
}

impl<'a> Message<'a> {
    fn take(is_inherited: bool, payload: &mut Object<'a>) -> Self {
        payload.ignore(&["phase", "end_turn"]);
        let role = payload.str("role").unwrap_or_default();
        let raw = payload.raw("content");
        let mut stated = payload.object("internal_chat_message_metadata_passthrough");
        let kinds = stated.as_mut().and_then(|stated| stated.texts("content_item_kinds"));
        let mut content = raw.map(Blocks::read).unwrap_or_default();
        let mut context = None;
        if is_inherited && role == "user" {
            context = Some(std::mem::take(&mut content));
        } else if let (Some(kinds), Some(raw), "user") = (kinds, raw, &*role) {
            let blocks: Vec<_> = value::elements(raw).unwrap_or_default();
            let is_stated = !kinds.is_empty() && kinds.iter().all(|kind| *kind != "unknown");
            if is_stated && blocks.len() == kinds.len() {
                let both = blocks.into_iter().map(Blocks::read).zip(&kinds);
                let (typed, other): (Vec<_>, Vec<_>) =
                    both.partition(|(block, kind)| is_typed(block, &kind.decode()));
                let join =
                    |all: Vec<(Blocks, &Text)>| all.into_iter().map(|(block, _)| block).collect();
                (content, context) = (join(typed), Some(join(other)));
            }
        }
        Self { role, id: payload.text("id"), content, context }
    }
}

impl AgentMessage {
    pub(super) fn take(payload: &mut Object<'_>) -> Self {
        Self {
            author: payload.text("author"),
            recipient: payload.text("recipient"),
            content: payload.raw("content").map(Blocks::read).unwrap_or_default(),
        }
    }
}

/// Whether a person typed, or added, a block of this kind: `user.text`, an image.
fn is_typed(block: &Blocks, kind: &str) -> bool {
    let is_image = |part: &Part| matches!(part, Part::Media(_)) || prompts::is_image_tag(part);
    kind == "user.text" || kind.starts_with("user.") && block.parts.iter().all(is_image)
}

impl<'a> Call<'a> {
    fn take(payload: &mut Object<'a>, input: &str) -> Self {
        // A call is written when the model makes it, so its status is not that of the result.
        Status::take(payload);
        Self {
            id: payload.corr_id("call_id"),
            namespace: payload.str("namespace"),
            name: payload.str("name").unwrap_or_default(),
            input: payload.raw(input),
        }
    }
}

impl Output {
    pub(super) fn take(payload: &mut Object<'_>) -> Self {
        let id = payload.corr_id("call_id");
        payload.ignore(&["name"]);
        let Some(raw) = payload.raw("output") else { return Self { id, ..Self::default() } };
        // `{content, success}` is the program's own form of an output; other objects are blocks.
        if let Some(mut held) = value::object(raw).filter(|held| !held.has("type")) {
            let success = held.bool("success");
            let content =
                ["content_items", "content", "body"].into_iter().find_map(|key| held.raw(key));
            if let Some(content) = content {
                return Self { id, content: Blocks::read(content), success };
            }
        }
        Self { id, content: Blocks::read(raw), success: None }
    }
}

fn take_reasoning(payload: &mut Object<'_>) -> Vec<Text> {
    let parts = |raw: Raw<'_>| -> Vec<Text> {
        let items: Vec<Raw<'_>> = value::elements(raw).unwrap_or_default();
        let texts = items.into_iter().map(|item| Blocks::read(item).content().text);
        texts.filter(|text| !text.is_empty()).collect()
    };
    let summary = payload.raw("summary").map(parts).unwrap_or_default();
    let content = payload.raw("content").map(parts).unwrap_or_default();
    payload.ignore(&["encrypted_content"]);
    if summary.is_empty() { content } else { summary }
}

/// The names of the tools in a tool search result.
fn tool_names(payload: &mut Object<'_>) -> Vec<String> {
    let found = payload.array("tools").unwrap_or_default().into_iter();
    let names = found.filter_map(|raw| value::object(raw)?.str("name"));
    names.map(Cow::into_owned).collect()
}
