//! Results of Codex's tools, and [`Status`]: the status of a call in Codex's terms.

use super::output;
use super::snake;
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

/// The status of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Not stated.
    #[default]
    Unstated,
    InProgress,
    Completed,
    Failed,
    /// `declined`: it was not permitted.
    Declined,
    /// `interrupted`, `aborted`, `cancelled`.
    Cancelled,
    /// An unknown word.
    Other(Text),
}

impl Status {
    /// Takes the field `status`, if it is a string.
    pub fn take(object: &mut Object<'_>) -> Self {
        let Some(word) = object.str("status") else { return Self::Unstated };
        match &*snake(&word) {
            "in_progress" | "running" | "pending" | "pending_init" => Self::InProgress,
            "completed" | "success" => Self::Completed,
            "failed" | "errored" | "error" | "not_found" => Self::Failed,
            "declined" | "denied" | "rejected" => Self::Declined,
            "interrupted" | "aborted" | "cancelled" => Self::Cancelled,
            _ => Self::Other(Text::from(word)),
        }
    }

    /// The status of a log that states only success or failure.
    pub fn of_success(success: Option<bool>) -> Self {
        match success {
            Some(true) => Self::Completed,
            Some(false) => Self::Failed,
            None => Self::Unstated,
        }
    }

    /// This status, or `other` if this one is not stated.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == Self::Unstated { other } else { self }
    }

    /// The final status of a call that ends with this status.
    pub fn ended(&self) -> ToolStatus {
        match self {
            Self::Failed => ToolStatus::Failed,
            Self::Declined => ToolStatus::Denied { reason: None },
            Self::Cancelled => ToolStatus::Cancelled,
            Self::Unstated | Self::InProgress | Self::Completed | Self::Other(_) => {
                ToolStatus::Success
            }
        }
    }
}
