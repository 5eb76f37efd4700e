//! [`NormalizedEntry`]: one entry of a conversation, the same for every agent.

use foldline::position::Timestamp;
use foldline_json::Text;
use serde::{Deserialize, Serialize};

use super::{
    action::{ActionType, CommandExitStatus, ToolResult},
    content::Image,
    extra::Extra,
    id::{CorrId, SessionId},
    warning_kind::WarningKind,
};

/// One entry of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NormalizedEntry {
    /// The time of the message, or of the start of the call, in milliseconds since 1970, if the log states it.
    pub timestamp: Option<Timestamp>,
    /// The type of the entry.
    pub entry_type: NormalizedEntryType,
    /// Its text: the message, or for a tool call a short title such as a path or a command.
    pub content: Text,
    /// Further data.
    pub metadata: Option<Box<Metadata>>,
}

impl NormalizedEntry {
    /// An entry without time and metadata.
    pub fn new(entry_type: NormalizedEntryType, content: impl Into<Text>) -> Self {
        Self { timestamp: None, entry_type, content: content.into(), metadata: None }
    }

    /// Sets the time.
    #[must_use]
    pub fn at(mut self, timestamp: Option<Timestamp>) -> Self {
        self.timestamp = timestamp;
        self
    }

    /// The metadata; inserted if there is none yet.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        self.metadata.get_or_insert_default()
    }

    /// The correlation id that the entry carries in its metadata.
    pub fn corr_id(&self) -> Option<&CorrId> {
        self.metadata.as_ref()?.corr_id.as_ref()
    }

    /// The tool call, if the entry is one.
    pub fn tool(&self) -> Option<&ToolUse> {
        match &self.entry_type {
            NormalizedEntryType::ToolUse(tool) => Some(tool),
            _ => None,
        }
    }

    /// The tool call, if the entry is one.
    pub fn tool_mut(&mut self) -> Option<&mut ToolUse> {
        match &mut self.entry_type {
            NormalizedEntryType::ToolUse(tool) => Some(tool),
            _ => None,
        }
    }
}

/// The type of an entry. Serialised with the tag `type`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
#[serde(tag = "type", rename_all = "snake_case", try_from = "FlatEntryType")]
pub enum NormalizedEntryType {
    /// A message of the user.
    UserMessage,
    /// A message of the agent.
    AssistantMessage,
    /// A message of the program around the agent.
    SystemMessage,
    /// A message of the program: the model of the following answers, the first one or another one.
    ModelChange {
        /// The model.
        model: Text,
    },
    /// A message of the program: the context was replaced by a summary, or truncated.
    Compaction,
    /// A message of the program: the summary of an earlier conversation, which this one continues.
    Continuation,
    /// An error.
    ErrorMessage,
    /// The reasoning of the agent.
    Thinking,
    /// A tool call, with its result once it has ended.
    ToolUse(ToolUse),
    /// Unsupported or unassignable content of the log; `content` is its raw text.
    Diagnostic {
        /// The reason.
        code: WarningKind,
    },
}

impl NormalizedEntryType {
    /// Whether it is a message of the program around the agent, in prose or with a stated meaning.
    pub fn is_system(&self) -> bool {
        matches!(
            self,
            Self::SystemMessage | Self::ModelChange { .. } | Self::Compaction | Self::Continuation
        )
    }

    /// The tag that this type is serialised with.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolUse {
    /// The tool's name, exactly as in the log.
    pub tool_name: Text,
    /// The action of the call, with its result.
    pub action_type: ActionType,
    /// Its status.
    pub status: ToolStatus,
    /// Milliseconds from call to result, from the log's timestamps or as stated in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl ToolUse {
    /// A new call.
    pub fn new(tool_name: impl Into<Text>, action_type: ActionType) -> Self {
        let status = ToolStatus::Created;
        Self { tool_name: tool_name.into(), action_type, status, duration_ms: None }
    }

    /// Ends the call with a final status and a result. For a command, the result is its output, and success follows
    /// from the status unless its exit status is already known.
    pub fn complete(&mut self, status: ToolStatus, result: impl Into<Text>) {
        self.action_type.set_result(ToolResult::Text(result.into()));
        if let ActionType::CommandRun { result: Some(result), .. } = &mut self.action_type {
            let success = match status {
                ToolStatus::Success => Some(true),
                ToolStatus::Failed => Some(false),
                _ => None,
            };
            let stated = success.map(|success| CommandExitStatus::Success { success });
            result.exit_status = result.exit_status.or(stated);
        }
        self.status = status;
    }
}

/// The status of a tool call. Serialised with the tag `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ToolStatus {
    /// Called; no result yet.
    Created,
    /// Running, with a partial result.
    InProgress,
    /// Waiting for the user's permission.
    PendingApproval,
    /// Ended successfully.
    Success,
    /// Ended with an error.
    Failed,
    /// Denied by the user or a policy.
    Denied {
        /// The reason, if the log states it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
    },
    /// Cancelled before its end.
    Cancelled,
    /// The log ended before a result.
    Unfinished,
    /// Ended, and the log does not state how: its format has no results.
    Unknown,
}

impl ToolStatus {
    /// Whether the status is final.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Created | Self::InProgress | Self::PendingApproval)
    }

    /// Whether the call ended without success.
    pub fn is_failure(&self) -> bool {
        self.is_final() && !matches!(self, Self::Success | Self::Unknown)
    }

    /// The tag that this status is serialised with.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

/// Metadata of an entry. Serialised in camelCase, without absent fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The correlation id. Every tool call has one, so that the entry of a late result can be found in a
    /// stored conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corr_id: Option<CorrId>,
    /// The call that started the sub-agent that produced this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_corr_id: Option<CorrId>,
    /// The agent's id of the session that this call started, if the log states it: the session of a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_session_id: Option<SessionId>,
    /// The id of the model's message that contains this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<Text>,
    /// The model that produced this entry, if the log states it for the entry itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text>,
    /// The result named no call, and was assigned to this one, the oldest matching call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inferred: bool,
    /// The pictures in the content or in the result of the call, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Further fields of the log, under their original names.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

/// [`NormalizedEntryType`] read directly from the text, so that JSON values keep every digit.
#[derive(Deserialize)]
struct FlatEntryType {
    r#type: String,
    model: Option<Text>,
    tool_name: Option<Text>,
    action_type: Option<ActionType>,
    status: Option<ToolStatus>,
    duration_ms: Option<u64>,
    code: Option<WarningKind>,
}

impl TryFrom<FlatEntryType> for NormalizedEntryType {
    type Error = String;

    fn try_from(flat: FlatEntryType) -> Result<Self, String> {
        Ok(match flat.r#type.as_str() {
            "user_message" => Self::UserMessage,
            "assistant_message" => Self::AssistantMessage,
            "system_message" => Self::SystemMessage,
            "model_change" => {
                Self::ModelChange { model: flat.model.ok_or("a model_change entry needs a model")? }
            }
            "compaction" => Self::Compaction,
            "continuation" => Self::Continuation,
            "error_message" => Self::ErrorMessage,
            "thinking" => Self::Thinking,
            "tool_use" => Self::ToolUse(ToolUse {
                tool_name: flat.tool_name.ok_or("a tool_use entry needs a tool_name")?,
                action_type: flat.action_type.ok_or("a tool_use entry needs an action_type")?,
                status: flat.status.ok_or("a tool_use entry needs a status")?,
                duration_ms: flat.duration_ms,
            }),
            "diagnostic" => {
                Self::Diagnostic { code: flat.code.ok_or("a diagnostic entry needs a code")? }
            }
            other => return Err(format!("unknown entry type {other:?}")),
        })
    }
}
