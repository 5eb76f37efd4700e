//! Results of Codex's tools, and the status of the call.

use super::{output, status::Status};
use crate::prelude::*;

/// The result of a call.
pub(super) type CodexResult = ToolOutcome<CodexWords>;

/// Reads facts from the text of Codex's results.
#[derive(Clone, Debug, PartialEq)]
pub enum CodexWords {}

impl ResultParser for CodexWords {
    const STATES_FAILURE: bool = false;

    fn read(outcome: &mut CodexResult, action: &mut ActionType) {
        // Outputs of other tools begin with the same lines, but their exit code is meaningless.
        outcome.exit_status.take_if(|_| !matches!(action, ActionType::CommandRun { .. }));
    }
}

/// The result of a call with this status.
pub(super) fn of_status(status: &Status, body: Option<ToolResult>) -> CodexResult {
    let mut result = CodexResult { body, ..CodexResult::new(status.ended(), None) };
    if let Status::Other(word) = status {
        result.extra.push(("status".to_owned(), Json::from(word.clone())));
    }
    result
}

/// The result of a function or custom tool, as given to the model.
pub(super) fn of_output(content: Content, success: Option<bool>) -> CodexResult {
    let mut output = output::Output::default();
    let body = content.cut(|text| {
        output = output::read(text);
        std::mem::take(&mut output.body)
    });
    let output::Output { exit_code, duration_ms, status, extra, .. } = output;
    let status = status.unwrap_or(match (exit_code, success) {
        (Some(0), _) | (None, None | Some(true)) => ToolStatus::Success,
        _ => ToolStatus::Failed,
    });
    let exit_status = exit_code.map(|code| CommandExitStatus::ExitCode { code });
    let result = CodexResult::new(status, None).with_content(body).with_extra(extra);
    CodexResult { exit_status, duration_ms, ..result }
}
