//! [`ActionType`]: what a tool call does, in a vocabulary that all agents share.

mod read;

use serde::{Deserialize, Serialize};

use super::{json::Json, text::Text};
use crate::json::Raw;

/// What a tool call does. Serialised with the tag `action`.
///
/// `result` is the tool's result; it is absent while the call is open.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "action", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ActionType {
    /// Reads a file, or lists a directory.
    FileRead {
        /// Relative to the session's directory where it lies below it.
        path: Text,
        /// The content.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// Creates, changes, moves or deletes files.
    FileEdit {
        /// The first file that is changed.
        path: Text,
        /// Every change, in the order of the call.
        changes: Vec<FileChange>,
        /// The tool's message.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// Runs a command.
    CommandRun {
        /// The command line.
        command: Text,
        /// How it ended and what it printed.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<CommandRunResult>,
    },
    /// Searches files, their names, or the web.
    Search {
        /// The pattern or the question.
        query: Text,
        /// The matches.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// Fetches from the web.
    WebFetch {
        /// The address.
        url: Text,
        /// The content.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// Reads or writes the agent's list of things to do.
    TodoManagement {
        /// The list as the call leaves it.
        todos: Vec<TodoItem>,
        /// `write`, `update` or `read`.
        operation: Text,
        /// The tool's message.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// Hands work to a sub-agent.
    TaskCreate {
        /// A short description of the work.
        description: Text,
        /// The prompt.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt: Option<Text>,
        /// Which kind of agent it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_type: Option<Text>,
        /// Its answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// Presents a plan for approval.
    PlanPresentation {
        /// The plan, usually Markdown.
        plan: Text,
        /// The user's answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// Asks the user questions.
    Question {
        /// The questions.
        questions: Vec<Text>,
        /// The user's answers.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// Any other tool, MCP tools among them, as it was called.
    Tool {
        /// Its name, as the log spells it.
        tool_name: Text,
        /// Its arguments.
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Json>,
        /// Its result.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
}

impl ActionType {
    /// The kind of tool, in the vocabulary of the Agent Client Protocol (`ToolKind`).
    pub fn kind(&self) -> ToolKind {
        match self {
            Self::FileRead { .. } => ToolKind::Read,
            Self::FileEdit { changes, .. } => match changes.as_slice() {
                [FileChange::Delete { .. }] => ToolKind::Delete,
                [FileChange::Rename { .. }] => ToolKind::Move,
                _ => ToolKind::Edit,
            },
            Self::CommandRun { .. } => ToolKind::Execute,
            Self::Search { .. } => ToolKind::Search,
            Self::WebFetch { .. } => ToolKind::Fetch,
            Self::TodoManagement { .. } | Self::PlanPresentation { .. } => ToolKind::Think,
            Self::TaskCreate { .. } | Self::Question { .. } | Self::Tool { .. } => ToolKind::Other,
        }
    }

    /// The tag that this action is serialised with.
    pub fn name(&self) -> &'static str {
        match self {
            Self::FileRead { .. } => "file_read",
            Self::FileEdit { .. } => "file_edit",
            Self::CommandRun { .. } => "command_run",
            Self::Search { .. } => "search",
            Self::WebFetch { .. } => "web_fetch",
            Self::TodoManagement { .. } => "todo_management",
            Self::TaskCreate { .. } => "task_create",
            Self::PlanPresentation { .. } => "plan_presentation",
            Self::Question { .. } => "question",
            Self::Tool { .. } => "tool",
        }
    }

    /// Stores the tool's result. For a command it is the output; the exit status is kept.
    pub fn set_result(&mut self, body: ToolResult) {
        match self {
            Self::FileRead { result, .. }
            | Self::FileEdit { result, .. }
            | Self::Search { result, .. }
            | Self::WebFetch { result, .. }
            | Self::TodoManagement { result, .. }
            | Self::TaskCreate { result, .. }
            | Self::PlanPresentation { result, .. }
            | Self::Question { result, .. }
            | Self::Tool { result, .. } => *result = Some(body),
            Self::CommandRun { result, .. } => {
                result.get_or_insert_default().output = Some(body.into_text());
            }
        }
    }

    /// Takes the tool's result, so that [`set_result`](Self::set_result) can store it again. A command keeps
    /// its exit status.
    pub fn take_result(&mut self) -> Option<ToolResult> {
        match self {
            Self::FileRead { result, .. }
            | Self::FileEdit { result, .. }
            | Self::Search { result, .. }
            | Self::WebFetch { result, .. }
            | Self::TodoManagement { result, .. }
            | Self::TaskCreate { result, .. }
            | Self::PlanPresentation { result, .. }
            | Self::Question { result, .. }
            | Self::Tool { result, .. } => result.take(),
            Self::CommandRun { result, .. } => result.as_mut()?.output.take().map(ToolResult::Text),
        }
    }

    /// The tool's result as text, if there is one.
    pub fn result_text(&self) -> Option<Text> {
        match self {
            Self::FileRead { result, .. }
            | Self::FileEdit { result, .. }
            | Self::Search { result, .. }
            | Self::WebFetch { result, .. }
            | Self::TodoManagement { result, .. }
            | Self::TaskCreate { result, .. }
            | Self::PlanPresentation { result, .. }
            | Self::Question { result, .. }
            | Self::Tool { result, .. } => result.clone().map(ToolResult::into_text),
            Self::CommandRun { result, .. } => result.as_ref()?.output.clone(),
        }
    }
}

/// The kind of a tool, in the vocabulary of the Agent Client Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads files or data.
    Read,
    /// Modifies files.
    Edit,
    /// Removes files.
    Delete,
    /// Moves or renames files.
    Move,
    /// Searches.
    Search,
    /// Runs commands.
    Execute,
    /// Plans, keeps lists.
    Think,
    /// Fetches from outside.
    Fetch,
    /// Everything else.
    Other,
}

impl ToolKind {
    /// The word that the Agent Client Protocol uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::Other => "other",
        }
    }
}

/// One change of one file. Serialised with the tag `action`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum FileChange {
    /// The file is written as a whole.
    Write {
        /// Which file.
        path: Text,
        /// What it holds afterwards.
        content: Text,
    },
    /// Parts of the file are changed.
    Edit {
        /// Which file.
        path: Text,
        /// The change in unified format, beginning with its first `@@` line.
        unified_diff: Text,
        /// Whether the line numbers are those of the file, and not of the part that the log shows.
        has_line_numbers: bool,
    },
    /// The file is deleted.
    Delete {
        /// Which file.
        path: Text,
    },
    /// The file is renamed.
    Rename {
        /// Its old name.
        path: Text,
        /// Its new name.
        new_path: Text,
    },
}

impl FileChange {
    /// The file that is changed, under its old name.
    pub fn path(&self) -> &Text {
        match self {
            Self::Write { path, .. }
            | Self::Edit { path, .. }
            | Self::Delete { path }
            | Self::Rename { path, .. } => path,
        }
    }
}

/// How a command ended and what it printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CommandRunResult {
    /// How it ended, if the log states it.
    pub exit_status: Option<CommandExitStatus>,
    /// What it printed: standard output and error as the agent saw them.
    pub output: Option<Text>,
}

impl CommandRunResult {
    /// A result with the exit status and the output, each if the log states it.
    pub fn new(exit_status: Option<CommandExitStatus>, output: Option<Text>) -> Self {
        Self { exit_status, output }
    }
}

/// How a command ended. Serialised with the tag `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CommandExitStatus {
    /// The log gives the exit code.
    ExitCode {
        /// 0 is success.
        code: i32,
    },
    /// The log states only whether it succeeded.
    Success {
        /// Whether it succeeded.
        success: bool,
    },
}

/// The result of a tool. Serialised with the tag `type` and the content `value`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum ToolResult {
    /// Text.
    Text(Text),
    /// Structured data.
    Json(Json),
}

impl ToolResult {
    /// As text: structured data in its JSON form.
    pub fn into_text(self) -> Text {
        match self {
            Self::Text(text) => text,
            Self::Json(json) => Text::from(json.get()),
        }
    }
}

/// A string is text, any other value is data.
impl From<Raw<'_>> for ToolResult {
    fn from(raw: Raw<'_>) -> Self {
        Text::from_raw(raw).map_or_else(|| Self::Json(raw.into()), Self::Text)
    }
}

impl From<Text> for ToolResult {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

/// One item of a to-do list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TodoItem {
    /// The task.
    pub content: Text,
    /// `pending`, `in_progress`, `completed`, or the log's own word.
    pub status: Text,
    /// `high`, `medium`, `low`, or the log's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Text>,
}

impl TodoItem {
    /// An item with its status.
    pub fn new(content: impl Into<Text>, status: impl Into<Text>) -> Self {
        Self { content: content.into(), status: status.into(), priority: None }
    }

    /// The same, with its priority.
    #[must_use]
    pub fn with_priority(mut self, priority: impl Into<Text>) -> Self {
        self.priority = Some(priority.into());
        self
    }
}
