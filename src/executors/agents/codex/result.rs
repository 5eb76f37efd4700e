//! What a Codex tool gave back, and how it ends the call.

use serde::{Deserialize, Serialize};

use super::{output, status::Status};
use crate::conversation::{
    ActionType, CommandExitStatus, Json, NormalizedEntry, Text, Timestamp, ToolResult, ToolStatus,
    length_of_extra, tool_calls::CallResult,
};

/// The result of a call, as far as a reducer keeps it while it waits for its call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodexResult {
    /// How the call ended.
    pub(super) status: ToolStatus,
    /// What came back.
    pub(super) body: Option<ToolResult>,
    /// How a command exited.
    pub(super) exit_status: Option<CommandExitStatus>,
    /// How long it took, where the log states it.
    pub(super) duration_ms: Option<u64>,
    /// The call as its end tells it, if that is to replace what its beginning told; with its title.
    pub(super) call: Option<Box<(ActionType, Text)>>,
    /// When it ended.
    pub(super) timestamp: Option<Timestamp>,
    /// Further fields.
    pub(super) extra: Vec<(String, Json)>,
}

impl Default for CodexResult {
    fn default() -> Self {
        Self {
            status: ToolStatus::Success,
            body: None,
            exit_status: None,
            duration_ms: None,
            call: None,
            timestamp: None,
            extra: Vec::new(),
        }
    }
}

impl CodexResult {
    pub(super) fn new(status: &Status, body: Option<ToolResult>) -> Self {
        let extra = match status {
            Status::Other(word) => vec![("status".to_owned(), Json::from(word.clone()))],
            _ => Vec::new(),
        };
        Self { status: status.ended(), body, extra, ..Self::default() }
    }

    /// The result of a function or custom tool, as the model was given it.
    pub(super) fn of_output(text: Text, success: Option<bool>) -> Self {
        let output::Output { body, exit_code, duration_ms, status, extra } = output::read(text);
        let status = status.unwrap_or(match (exit_code, success) {
            (Some(0), _) | (None, None | Some(true)) => ToolStatus::Success,
            _ => ToolStatus::Failed,
        });
        Self {
            status,
            body: Some(ToolResult::Text(body)),
            exit_status: exit_code.map(|code| CommandExitStatus::ExitCode { code }),
            duration_ms,
            extra,
            ..Self::default()
        }
    }

    /// Writes into the call how far it has come.
    pub(super) fn progress(self, call: &mut NormalizedEntry) {
        self.write(call);
        if let Some(tool) = call.tool_mut() {
            tool.status = ToolStatus::InProgress;
        }
    }

    fn write(self, call: &mut NormalizedEntry) {
        if !self.extra.is_empty() {
            call.metadata_mut().extra.extend(self.extra);
        }
        let title = self.call.as_ref().map(|call| call.1.clone());
        if let Some(title) = title {
            call.content = title;
        }
        let Some(tool) = call.tool_mut() else { return };
        if let Some(call) = self.call {
            tool.action_type = call.0;
        }
        tool.status = self.status;
        tool.duration_ms = self.duration_ms.or(tool.duration_ms);
        if let Some(body) = self.body {
            tool.action_type.set_result(body);
        }
        if let (ActionType::CommandRun { result, .. }, Some(status)) =
            (&mut tool.action_type, self.exit_status)
        {
            result.get_or_insert_default().exit_status = Some(status);
        }
    }
}

impl CallResult for CodexResult {
    fn complete(self, call: &mut NormalizedEntry) {
        self.write(call);
    }

    fn into_content(self) -> Text {
        self.body.map(ToolResult::into_text).unwrap_or_default()
    }

    fn length(&self) -> usize {
        let body = match &self.body {
            Some(ToolResult::Text(text)) => text.length(),
            Some(ToolResult::Json(json)) => json.get().len(),
            None => 0,
        };
        let call = self.call.as_ref().map_or(0, |call| call.0.length() + call.1.length());
        body + call + length_of_extra(&self.extra)
    }

    fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn content(&self) -> Text {
        self.body.clone().map(ToolResult::into_text).unwrap_or_default()
    }
}
