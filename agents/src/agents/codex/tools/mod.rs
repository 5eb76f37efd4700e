//! Tool calls of Codex with their results, from items and events.
//!
//! Both formats are almost the same: `item.completed` of `codex exec`; `exec_command_end`, similar events and
//! `item_completed` of rollout files.

mod agents;
mod changes;
mod command;
mod mcp;
mod web;

use foldline_domain::TodoItem;

use super::{
    either,
    result::{self, CodexResult, Status},
};
use crate::{
    action::{file_read, plan_presentation, todo_list},
    content,
    prelude::*,
};

pub(super) use self::{
    agents::{AgentCall, call as agent_call},
    changes::FileChanges,
    command::CommandExecution,
    mcp::McpCall,
    web::WebSearch,
};

/// A tool call with its result so far.
#[derive(Clone, Debug)]
pub enum Tool<'a> {
    Command(CommandExecution),
    Patch(FileChanges<'a>),
    /// A tool of an MCP server, or one that the client offers.
    Mcp(McpCall<'a>),
    /// A web search, or a page that was opened or searched.
    Web(WebSearch<'a>),
    /// The to-do list.
    TodoList(Vec<TodoItem>),
    /// Work with sub-agents.
    Agents(AgentCall<'a>),
    /// An image that was viewed.
    ViewImage(Cow<'a, str>),
    /// An image that was generated.
    MakeImage(MakeImage),
    /// A plan that was presented.
    Plan(Text),
}

/// A generated image.
#[derive(Clone, Debug, Default)]
pub struct MakeImage {
    pub prompt: Option<Text>,
    pub status: Status,
    /// The path of the image.
    pub saved_path: Option<Text>,
    /// The image.
    pub made: Option<Content>,
}

impl MakeImage {
    /// Reads `image_generation_call` and `image_generation_end`.
    pub fn take(object: &mut Object<'_>) -> Self {
        Self {
            prompt: object.text("revised_prompt"),
            status: Status::take(object),
            saved_path: object.text("saved_path"),
            made: object
                .str("result")
                .filter(|data| !data.is_empty())
                .map(|data| content::image_of_base64("image/png", &data)),
        }
    }
}

impl<'a> Tool<'a> {
    /// Reads the fields of an item, if its type (in `snake_case`) is a tool.
    pub fn take_item(kind: &str, item: &mut Object<'a>) -> Option<Self> {
        Some(match kind {
            "command_execution" => Self::Command(CommandExecution::take(item)),
            "file_change" => Self::Patch(FileChanges::take(item)),
            "mcp_tool_call" => Self::Mcp(McpCall::take(item)),
            "dynamic_tool_call" => Self::Mcp(McpCall::take_dynamic(item)),
            "web_search" => Self::Web(WebSearch::take(item)),
            "collab_tool_call" | "collab_agent_tool_call" => Self::Agents(AgentCall::take(item)),
            "todo_list" => Self::TodoList(take_todos(item)),
            "image_view" => Self::ViewImage(item.str("path").unwrap_or_default()),
            "image_generation" => Self::MakeImage(MakeImage::take(item)),
            "plan" => Self::Plan(item.text("text").unwrap_or_default()),
            _ => return None,
        })
    }

    pub fn name(&self) -> Cow<'_, str> {
        match self {
            Self::Command(_) => "command_execution".into(),
            Self::Patch(_) => "apply_patch".into(),
            Self::Mcp(call) => call.name(),
            Self::Web(_) => "web_search".into(),
            Self::TodoList(_) => "todo_list".into(),
            Self::Agents(call) => call.tool.as_ref().into(),
            Self::ViewImage(_) => "view_image".into(),
            Self::MakeImage(_) => "image_generation".into(),
            Self::Plan(_) => "plan".into(),
        }
    }

    pub fn call(&self, cwd: Option<&str>) -> MappedCall {
        match self {
            Self::Command(command) => command.call(),
            Self::Patch(patch) => patch.call(cwd),
            Self::Mcp(call) => call.call(),
            Self::Web(search) => search.call(),
            Self::TodoList(todos) => todo_list("write", todos.clone()).into(),
            Self::Agents(call) => call.call(),
            Self::ViewImage(path) => file_read(files::relative_path(path, cwd)).into(),
            Self::MakeImage(image) => {
                let mut call = MappedCall::tool("image_generation", None);
                call.title = image.prompt.clone().unwrap_or(call.title);
                call
            }
            Self::Plan(plan) => plan_presentation(Some(plan.clone())).into(),
        }
    }

    /// Unknown content blocks of the result.
    pub fn unknown_blocks(&self) -> &[(String, Json)] {
        match self {
            Self::Mcp(call) => call.content.as_ref().map_or(&[], |content| &content.unknown),
            _ => &[],
        }
    }

    /// The result of the call so far.
    pub fn result(&self) -> CodexResult {
        match self {
            Self::Command(command) => command.result(),
            Self::Patch(patch) => patch.result(),
            Self::Mcp(call) => call.result(),
            Self::Web(search) => search.result(),
            Self::Agents(call) => call.result(),
            Self::MakeImage(image) => {
                let path = image.saved_path.clone().map(Content::from);
                let shown = path.or_else(|| image.made.clone());
                result::of_status(&image.status, None).with_content(shown)
            }
            Self::TodoList(_) | Self::ViewImage(_) | Self::Plan(_) => {
                CodexResult::new(ToolStatus::Success, None)
            }
        }
    }
}

/// `items[]{text, completed}`.
fn take_todos(item: &mut Object<'_>) -> Vec<TodoItem> {
    let items = item.array("items").unwrap_or_default().into_iter().filter_map(|raw: Raw<'_>| {
        let mut todo: Object<'_> = value::object(raw)?;
        let status = match either(&mut todo, "completed", Object::bool) {
            Some(true) => "completed".into(),
            Some(false) => "pending".into(),
            None => todo.text("status").unwrap_or_else(|| "pending".into()),
        };
        Some(TodoItem { content: todo.text("text").unwrap_or_default(), status, priority: None })
    });
    items.collect()
}
