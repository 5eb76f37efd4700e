//! What a Droid tool gave back, and how it ends the call.

use serde::{Deserialize, Serialize};

use super::types;
use crate::{
    conversation::{
        ActionType, CommandExitStatus, Json, NormalizedEntry, Text, Timestamp, ToolResult,
        ToolStatus, length_of_extra, tool_calls::CallResult,
    },
    executors::wire::value,
};

/// What a tool answers that was not permitted to run; why not, the next message says.
const CANCELLED: &str = "Error: tool execution cancelled";

/// The result of a call, as far as the reducer keeps it while it waits for its call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DroidResult {
    status: ToolStatus,
    body: Text,
    timestamp: Option<Timestamp>,
    /// Fields that no release is known to have.
    extra: Vec<(String, Json)>,
}

impl DroidResult {
    pub(super) fn new(
        line: types::ToolResult<'_>,
        timestamp: Option<Timestamp>,
        extra: Vec<(String, Json)>,
    ) -> Self {
        let value = line.value.map(value::into_text);
        let message = line.error.and_then(|error| error.message.or(error.r#type));
        let body = match (value, message) {
            (Some(value), Some(message)) if value != message => {
                Text::from(format!("{value}\n{message}"))
            }
            (value, message) => value.or(message).unwrap_or_default(),
        };
        Self::of_text(status(line.is_error), body, timestamp, extra)
    }

    /// A result that is all text.
    pub(super) fn of_text(
        status: ToolStatus,
        body: Text,
        timestamp: Option<Timestamp>,
        extra: Vec<(String, Json)>,
    ) -> Self {
        Self { status, body, timestamp, extra }
    }
}

pub(super) fn status(is_error: bool) -> ToolStatus {
    if is_error { ToolStatus::Failed } else { ToolStatus::Success }
}

impl CallResult for DroidResult {
    fn complete(self, call: &mut NormalizedEntry) {
        if !self.extra.is_empty() {
            call.metadata_mut().extra.extend(self.extra);
        }
        let Some(tool) = call.tool_mut() else { return };
        tool.status = self.status.clone();
        if let ActionType::CommandRun { result, .. } = &mut tool.action_type {
            let result = result.get_or_insert_default();
            let has_run = matches!(self.status, ToolStatus::Success | ToolStatus::Failed)
                && (self.status == ToolStatus::Success || self.body != CANCELLED);
            let (output, code) = split_exit_line(self.body);
            result.output = Some(output);
            result.exit_status = match code {
                Some(code) => Some(CommandExitStatus::ExitCode { code }),
                None if !has_run => None,
                None => {
                    Some(CommandExitStatus::Success { success: self.status == ToolStatus::Success })
                }
            };
            if code.is_some_and(|code| code != 0) {
                tool.status = ToolStatus::Failed;
            }
        } else {
            tool.action_type.set_result(ToolResult::Text(self.body));
        }
    }

    fn into_content(self) -> Text {
        self.body
    }

    fn length(&self) -> usize {
        self.body.length() + length_of_extra(&self.extra)
    }

    fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn content(&self) -> Text {
        self.body.clone()
    }
}

/// The output of `Execute` ends with a line of its own: `\n\n\n[Process exited with code 0]`.
fn split_exit_line(body: Text) -> (Text, Option<i32>) {
    let split = body.rsplit_once("[Process exited with code ", 3);
    match split.and_then(|(output, rest)| Some((output, rest.strip_suffix(']')?.parse().ok()?))) {
        Some((output, code)) => (output, Some(code)),
        None => (body, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_line_is_no_output() {
        let split = |text: &str| {
            let (output, code) = split_exit_line(text.into());
            (output.decode().into_owned(), code)
        };
        assert_eq!(split("hi\n\n\n\n[Process exited with code 0]"), ("hi\n".into(), Some(0)));
        assert_eq!(split("\n\n\n[Process exited with code -1]"), (String::new(), Some(-1)));
        assert_eq!(split("[Process exited with code 3]"), (String::new(), Some(3)));
        assert_eq!(split("[a list]"), ("[a list]".into(), None));
        assert_eq!(split("bare"), ("bare".into(), None));
    }
}
