//! [`DetailedResult`]: a result with everything that a log may state of it.

use std::mem::discriminant;

use serde::{Deserialize, Serialize};

use super::{
    super::{
        action::{ActionType, CommandExitStatus, ToolResult},
        entry::{NormalizedEntry, ToolStatus},
        json::Json,
        size::length_of_extra,
        text::Text,
        time::Timestamp,
    },
    CallResult,
};

/// A tool's result of an agent whose log states more than a status and a text. What it does not state is
/// `None`.
///
/// ```
/// use foldline::conversation::{
///     ActionType, CommandExitStatus, NormalizedEntry, NormalizedEntryType, ToolStatus, ToolUse,
///     tool_calls::{CallResult, DetailedResult},
/// };
///
/// let action = ActionType::CommandRun { command: "ls".into(), result: None };
/// let tool = ToolUse::new("shell", action);
/// let mut call = NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "ls");
///
/// let mut result = DetailedResult::new(ToolStatus::Failed, None);
/// result.exit_status = Some(CommandExitStatus::ExitCode { code: 2 });
/// result.complete(&mut call);
/// assert_eq!(call.tool().map(|tool| &tool.status), Some(&ToolStatus::Failed));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DetailedResult {
    /// The final status of the call.
    pub status: ToolStatus,
    /// What the tool gave back.
    pub body: Option<ToolResult>,
    /// How a command exited; one that exited with another code than 0, or did not succeed, has failed. Of a
    /// command that failed without one, it is stated that it failed. Of another call than a command, it is kept as the
    /// further field `result.exit_status`.
    pub exit_status: Option<CommandExitStatus>,
    /// What the call did, if that is not what its beginning said: an edit as it was made, a list as it is
    /// then. Of another kind than the call, it is kept as the further field `result.action`.
    pub action: Option<Box<ActionType>>,
    /// How long the call took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// When it ended.
    pub timestamp: Option<Timestamp>,
    /// Further fields, for the entry's metadata.
    pub extra: Vec<(String, Json)>,
}

impl DetailedResult {
    /// A result that states nothing more.
    pub const fn new(status: ToolStatus, timestamp: Option<Timestamp>) -> Self {
        let (body, exit_status, action, duration_ms) = (None, None, None, None);
        Self { status, body, exit_status, action, duration_ms, timestamp, extra: Vec::new() }
    }
}

impl CallResult for DetailedResult {
    fn complete(self, call: &mut NormalizedEntry) {
        let Self { mut status, body, exit_status, action, duration_ms, mut extra, .. } = self;
        let Some(tool) = call.tool_mut() else { return };
        match action {
            Some(action) if discriminant(&*action) == discriminant(&tool.action_type) => {
                tool.action_type = *action;
            }
            Some(action) => {
                extra.extend(Json::of(&action).ok().map(|json| ("result.action".to_owned(), json)));
            }
            None => {}
        }
        if let ActionType::CommandRun { result, .. } = &mut tool.action_type {
            let failed = (status == ToolStatus::Failed).then_some(false);
            let stated = failed.map(|success| CommandExitStatus::Success { success });
            let result = result.get_or_insert_default();
            result.exit_status = exit_status.or(result.exit_status).or(stated);
            let is_error = match result.exit_status {
                Some(CommandExitStatus::ExitCode { code }) => code != 0,
                Some(CommandExitStatus::Success { success }) => !success,
                None => false,
            };
            if is_error && status == ToolStatus::Success {
                status = ToolStatus::Failed;
            }
        } else if let Some(exit_status) = exit_status {
            let stated = Json::of(&exit_status).ok();
            extra.extend(stated.map(|json| ("result.exit_status".to_owned(), json)));
        }
        if let Some(body) = body {
            tool.action_type.set_result(body);
        }
        tool.status = status;
        tool.duration_ms = duration_ms;
        if !extra.is_empty() {
            call.metadata_mut().extra.extend(extra);
        }
    }

    fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn content(&self) -> Text {
        self.clone().into_content()
    }

    fn into_content(self) -> Text {
        self.body.map(ToolResult::into_text).unwrap_or_default()
    }

    fn length(&self) -> usize {
        let body = self.body.as_ref().map_or(0, |body| match body {
            ToolResult::Text(text) => text.length(),
            ToolResult::Json(json) => json.get().len(),
        });
        let action = self.action.as_ref().map_or(0, |action| action.length());
        body + action + length_of_extra(&self.extra)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{NormalizedEntryType, ToolUse};

    #[test]
    fn the_exit_code_of_another_call_is_kept() {
        let action = ActionType::FileRead { path: "x".into(), result: None };
        let tool = NormalizedEntryType::ToolUse(ToolUse::new("read", action));
        let mut call = NormalizedEntry::new(tool, "x");
        let exit_status = Some(CommandExitStatus::ExitCode { code: 3 });
        let result = DetailedResult::new(ToolStatus::Failed, None);
        DetailedResult { exit_status, ..result }.complete(&mut call);
        let extra = &call.metadata.as_ref().unwrap().extra;
        let (name, value) = &extra.iter().next().unwrap();
        assert_eq!(*name, "result.exit_status");
        assert!(value.get().contains('3'), "{value:?}");
    }

    #[test]
    fn the_exit_code_of_a_command_decides() {
        let (code, word) = (
            |code| Some(CommandExitStatus::ExitCode { code }),
            |success| Some(CommandExitStatus::Success { success }),
        );
        let (success, failed, cancelled) =
            (ToolStatus::Success, ToolStatus::Failed, ToolStatus::Cancelled);
        for (status, exit_status, ends, stated) in [
            (&success, code(0), &success, code(0)),
            (&success, code(2), &failed, code(2)),
            (&success, word(false), &failed, word(false)),
            (&success, None, &success, None),
            (&failed, None, &failed, word(false)),
            (&failed, code(0), &failed, code(0)),
            (&cancelled, code(130), &cancelled, code(130)),
        ] {
            let action = ActionType::CommandRun { command: "x".into(), result: None };
            let tool = NormalizedEntryType::ToolUse(ToolUse::new("shell", action));
            let mut call = NormalizedEntry::new(tool, "x");
            let result = DetailedResult::new(status.clone(), None);
            DetailedResult { exit_status, ..result }.complete(&mut call);
            let Some(ToolUse { status, action_type, .. }) = call.tool() else { panic!("a call") };
            let ActionType::CommandRun { result: Some(result), .. } = action_type else {
                panic!("a command with a result")
            };
            assert_eq!((status, result.exit_status), (ends, stated));
        }
    }
}
