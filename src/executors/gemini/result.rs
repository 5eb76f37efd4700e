//! What a tool of Gemini gave back, and how it ends the call.

use serde::{Deserialize, Serialize};

use super::types::{Failure, ToolResult};
use crate::{
    conversation::{
        ActionType, CommandExitStatus, Json, NormalizedEntry, Text, Timestamp, ToolResult as Body,
        ToolStatus, length_of_extra, tool_calls::CallResult,
    },
    executors::Extra,
};

/// The result of a call, as it is kept while it waits for its call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeminiResult {
    status: ToolStatus,
    body: Option<Text>,
    timestamp: Option<Timestamp>,
    /// Why the call failed, in a word, and fields that no release is known to have.
    extra: Extra,
}

impl GeminiResult {
    pub(super) fn new(line: ToolResult, mut extra: Extra, timestamp: Option<Timestamp>) -> Self {
        let ToolResult { is_error, output, error, .. } = line;
        let has_failed = is_error || error.is_some();
        let Failure { kind, message } = error.unwrap_or_default();
        let is_denied = kind.as_ref().is_some_and(|kind| *kind == "policy_violation");
        let status = match has_failed {
            true if is_denied => ToolStatus::Denied { reason: message.clone() },
            true => ToolStatus::Failed,
            false => ToolStatus::Success,
        };
        extra.extend(kind.map(|kind| ("error.type".to_owned(), Json::from(kind))));
        let body = match (output, message) {
            (Some(output), Some(message)) if !output.is_empty() && output != message => {
                Some(Text::from(format!("{output}\n{message}")))
            }
            (output, message) => message.or(output),
        };
        Self { status, body, timestamp, extra }
    }
}

impl CallResult for GeminiResult {
    fn complete(self, call: &mut NormalizedEntry) {
        let Self { mut status, mut body, extra, .. } = self;
        if !extra.is_empty() {
            call.metadata_mut().extra.extend(extra);
        }
        let Some(tool) = call.tool_mut() else { return };
        if let ActionType::CommandRun { result, .. } = &mut tool.action_type {
            // All that a failed command may leave behind; its status is `success` all the same.
            let code = body.as_ref().and_then(exit_code);
            if let Some(code) = code {
                body = None;
                status = if code == 0 { status } else { ToolStatus::Failed };
            }
            let failed = (status == ToolStatus::Failed).then_some(false);
            let stated = failed.map(|success| CommandExitStatus::Success { success });
            let result = result.get_or_insert_default();
            result.exit_status = code.map(|code| CommandExitStatus::ExitCode { code }).or(stated);
        } else {
            // What was read, found or written is not in the stream.
            body = body.filter(|body| !body.is_empty());
        }
        if let Some(body) = body {
            tool.action_type.set_result(Body::Text(body));
        }
        tool.status = status;
    }

    fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn content(&self) -> Text {
        self.body.clone().unwrap_or_default()
    }

    fn length(&self) -> usize {
        self.body.as_ref().map_or(0, Text::length) + length_of_extra(&self.extra)
    }
}

/// What a command that printed nothing says in place of its output.
fn exit_code(body: &Text) -> Option<i32> {
    let text = body.may_begin_with("Command exited").then(|| body.decode())?;
    text.strip_prefix("Command exited with code: ")?.parse().ok()
}
