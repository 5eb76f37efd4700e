//! Deserialisation of actions and results.

use foldline_json::stated;
use serde::{Deserialize, Deserializer, de};

use super::{ActionType, CommandExitStatus, CommandRunResult, FileChange, TodoItem, ToolResult};
use crate::conversation::{Json, Text};

/// Reads a [`ToolResult`] directly from the text, so that [`Json`] keeps every digit (serde reads tagged enums
/// through a buffer that does not).
#[derive(Deserialize)]
struct TypedValue {
    r#type: ToolResultType,
    value: Json,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToolResultType {
    Text,
    Json,
}

impl TryFrom<TypedValue> for ToolResult {
    type Error = serde_json::Error;

    fn try_from(TypedValue { r#type, value }: TypedValue) -> Result<Self, Self::Error> {
        match r#type {
            ToolResultType::Text => serde_json::from_str(value.get()).map(Self::Text),
            ToolResultType::Json => Ok(Self::Json(value)),
        }
    }
}

impl<'de> Deserialize<'de> for ToolResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(TypedValue::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// Reads an [`ActionType`], for the same reason as [`TypedValue`].
#[derive(Deserialize)]
struct FlatAction {
    action: String,
    #[serde(default)]
    path: Text,
    #[serde(default)]
    changes: Vec<FileChange>,
    #[serde(default)]
    command: Text,
    #[serde(default)]
    query: Text,
    #[serde(default)]
    url: Text,
    #[serde(default)]
    todos: Vec<TodoItem>,
    #[serde(default)]
    operation: Text,
    #[serde(default)]
    description: Text,
    prompt: Option<Text>,
    subagent_type: Option<Text>,
    #[serde(default)]
    plan: Text,
    #[serde(default)]
    questions: Vec<Text>,
    #[serde(default)]
    tool_name: Text,
    #[serde(default, deserialize_with = "stated")]
    arguments: Option<Json>,
    result: Option<FlatResult>,
}

/// Either of the two shapes of `result`.
#[derive(Deserialize)]
struct FlatResult {
    r#type: Option<ToolResultType>,
    #[serde(default, deserialize_with = "stated")]
    value: Option<Json>,
    exit_status: Option<CommandExitStatus>,
    output: Option<Text>,
}

impl<'de> Deserialize<'de> for ActionType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FlatAction::deserialize(deserializer).map(Self::from)
    }
}

impl From<FlatAction> for ActionType {
    fn from(flat: FlatAction) -> Self {
        let FlatAction { path, changes, query, url, todos, operation, description, .. } = flat;
        let FlatAction { prompt, subagent_type, plan, questions, tool_name, arguments, .. } = flat;
        if flat.action == "command_run" {
            let result = flat.result.map(|FlatResult { exit_status, output, .. }| {
                CommandRunResult { exit_status, output }
            });
            return Self::CommandRun { command: flat.command, result };
        }
        let result = flat.result.and_then(|result| {
            let typed = TypedValue { r#type: result.r#type?, value: result.value? };
            ToolResult::try_from(typed).ok()
        });
        match flat.action.as_str() {
            "file_read" => Self::FileRead { path, result },
            "file_edit" => Self::FileEdit { path, changes, result },
            "search" => Self::Search { query, result },
            "web_fetch" => Self::WebFetch { url, result },
            "todo_management" => Self::TodoManagement { todos, operation, result },
            "task_create" => Self::TaskCreate { description, prompt, subagent_type, result },
            "plan_presentation" => Self::PlanPresentation { plan, result },
            "question" => Self::Question { questions, result },
            // An action of a later version is read as a tool with the name of its tag.
            "tool" => Self::Tool { tool_name, arguments, result },
            later => Self::Tool { tool_name: later.into(), arguments, result },
        }
    }
}
