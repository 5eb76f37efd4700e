//! [`ActionType`]: the action of a tool call, in a vocabulary common to all agents.

mod read;

use foldline_json::{Json, Raw, Text};
use serde::{Deserialize, Serialize};

/// The action of a tool call. Serialised with the tag `action`.
///
/// `result` is the tool's result; it is absent while the call is open.
#[derive(Clone, Debug, PartialEq, Serialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ActionType {
    /// Reads a file, or lists a directory.
    FileRead {
        /// Relative to the session's directory if it is inside it.
        path: Text,
        /// The content.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// Creates, changes, moves or deletes files.
    FileEdit {
        /// The first changed file.
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
        /// Its exit status and output.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<CommandRunResult>,
    },
    /// Searches files, their names, or the web.
    Search {
        /// The pattern or query.
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
    /// Reads or writes the agent's to-do list.
    TodoManagement {
        /// The list after the call.
        todos: Vec<TodoItem>,
        /// `write`, `update` or `read`.
        operation: Text,
        /// The tool's message.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// Delegates work to a sub-agent.
    TaskCreate {
        /// A short description of the work.
        description: Text,
        /// The prompt.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt: Option<Text>,
        /// The type of the agent.
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
    /// Any other tool, including MCP tools, with its arguments.
    Tool {
        /// Its name, exactly as in the log.
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
        self.into()
    }

    /// Stores the tool's result. For a command, the result is the output, and the exit status is kept.
    pub fn set_result(&mut self, body: ToolResult) {
        match self.slot() {
            Ok(result) => *result = Some(body),
            Err(result) => result.get_or_insert_default().output = Some(body.into_text()),
        }
    }

    /// Takes the tool's result, so that [`set_result`](Self::set_result) can restore it. A command keeps its exit
    /// status.
    pub fn take_result(&mut self) -> Option<ToolResult> {
        match self.slot() {
            Ok(result) => result.take(),
            Err(result) => result.as_mut()?.output.take().map(ToolResult::Text),
        }
    }

    /// The place of the result, or else that of a command.
    fn slot(&mut self) -> Result<&mut Option<ToolResult>, &mut Option<CommandRunResult>> {
        match self {
            Self::FileRead { result, .. }
            | Self::FileEdit { result, .. }
            | Self::Search { result, .. }
            | Self::WebFetch { result, .. }
            | Self::TodoManagement { result, .. }
            | Self::TaskCreate { result, .. }
            | Self::PlanPresentation { result, .. }
            | Self::Question { result, .. }
            | Self::Tool { result, .. } => Ok(result),
            Self::CommandRun { result, .. } => Err(result),
        }
    }

    /// The tool's result as text, if there is one.
    pub fn result_text(&self) -> Option<Text> {
        match self.result()? {
            Ok(text) => Some(text.clone()),
            Err(json) => Some(ToolResult::Json(json.clone()).into_text()),
        }
    }

    /// The text of the tool's result, or else its JSON value.
    pub fn result(&self) -> Option<Result<&Text, &Json>> {
        match self {
            Self::FileRead { result, .. }
            | Self::FileEdit { result, .. }
            | Self::Search { result, .. }
            | Self::WebFetch { result, .. }
            | Self::TodoManagement { result, .. }
            | Self::TaskCreate { result, .. }
            | Self::PlanPresentation { result, .. }
            | Self::Question { result, .. }
            | Self::Tool { result, .. } => Some(match result.as_ref()? {
                ToolResult::Text(text) => Ok(text),
                ToolResult::Json(json) => Err(json),
            }),
            Self::CommandRun { result, .. } => result.as_ref()?.output.as_ref().map(Ok),
        }
    }
}

/// The kind of a tool, in the vocabulary of the Agent Client Protocol.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
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
    /// Plans, or maintains lists.
    Think,
    /// Fetches from external sources.
    Fetch,
    /// Any other kind.
    Other,
}

impl ToolKind {
    /// The word that the Agent Client Protocol uses.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One change of one file. Serialised with the tag `action`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum FileChange {
    /// The whole file is written.
    Write {
        /// The file.
        path: Text,
        /// The new content.
        content: Text,
    },
    /// Parts of the file are changed.
    Edit {
        /// The file.
        path: Text,
        /// The change in unified format, beginning with its first `@@` line.
        unified_diff: Text,
        /// Whether the line numbers refer to the file, and not to the excerpt in the log.
        has_line_numbers: bool,
    },
    /// The file is deleted.
    Delete {
        /// The file.
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
    /// The changed file, under its old name.
    pub fn path(&self) -> &Text {
        match self {
            Self::Write { path, .. }
            | Self::Edit { path, .. }
            | Self::Delete { path }
            | Self::Rename { path, .. } => path,
        }
    }
}

/// The exit status and output of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandRunResult {
    /// The exit status, if the log states it.
    pub exit_status: Option<CommandExitStatus>,
    /// Standard output and error, as seen by the agent.
    pub output: Option<Text>,
}

impl CommandRunResult {
    /// A result with the exit status and the output, each if the log states it.
    pub fn new(exit_status: Option<CommandExitStatus>, output: Option<Text>) -> Self {
        Self { exit_status, output }
    }
}

/// The exit status of a command. Serialised with the tag `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CommandExitStatus {
    /// The log states the exit code.
    ExitCode {
        /// 0 means success.
        code: i32,
    },
    /// The log states only success or failure.
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
    /// The result as text; structured data as JSON.
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
pub struct TodoItem {
    /// The task.
    pub content: Text,
    /// `pending`, `in_progress`, `completed`, or another word of the log.
    pub status: Text,
    /// `high`, `medium`, `low`, or another word of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Text>,
}

impl TodoItem {
    /// An item with its status.
    pub fn new(content: impl Into<Text>, status: impl Into<Text>) -> Self {
        Self { content: content.into(), status: status.into(), priority: None }
    }

    /// Sets the priority.
    #[must_use]
    pub fn with_priority(mut self, priority: impl Into<Text>) -> Self {
        self.priority = Some(priority.into());
        self
    }
}
