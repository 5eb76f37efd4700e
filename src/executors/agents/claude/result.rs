//! What a tool of Claude Code gave back, and how it ends the call.

use serde::{Deserialize, Serialize};

use super::detail::ResultDetail;
use crate::{
    conversation::{
        ActionType, CommandExitStatus, FileChange, Json, NormalizedEntry, Text, Timestamp,
        ToolResult as Body, ToolStatus, length_of_extra, tool_calls::CallResult,
    },
    executors::dialect::anthropic::ToolResult,
};

/// The result of a call, as far as the reducer keeps it while it waits for its call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaudeResult {
    status: ToolStatus,
    body: Text,
    exit_code: Option<i32>,
    in_background: bool,
    patch: Option<Text>,
    duration_ms: Option<u64>,
    timestamp: Option<Timestamp>,
    /// Fields that no release is known to have.
    extra: Vec<(String, Json)>,
}

impl ClaudeResult {
    pub(super) fn new(
        result: ToolResult<'_>,
        detail: ResultDetail,
        timestamp: Option<Timestamp>,
        extra: Vec<(String, Json)>,
    ) -> Self {
        let ToolResult { is_error, body, .. } = result;
        let body = if body.is_empty() { detail.text.clone().unwrap_or_default() } else { body };
        let body = if is_error { without_error_tag(body) } else { body };
        let status = status_of(is_error, &body, &detail);
        let ResultDetail { in_background, exit_code, patch, duration_ms, .. } = detail;
        Self { status, body, exit_code, in_background, patch, duration_ms, timestamp, extra }
    }

    /// The result of a call that the log lists among the denied ones.
    pub(super) fn denied(timestamp: Option<Timestamp>) -> Self {
        Self {
            status: ToolStatus::Denied { reason: None },
            body: Text::default(),
            exit_code: None,
            in_background: false,
            patch: None,
            duration_ms: None,
            timestamp,
            extra: Vec::new(),
        }
    }
}

impl CallResult for ClaudeResult {
    fn complete(self, call: &mut NormalizedEntry) {
        if !self.extra.is_empty() {
            call.metadata_mut().extra.extend(self.extra);
        }
        let Some(tool) = call.tool_mut() else { return };
        tool.duration_ms = self.duration_ms;
        let succeeded = self.status == ToolStatus::Success;
        match &mut tool.action_type {
            ActionType::CommandRun { result, .. } => {
                let (output, code) = match self.status {
                    ToolStatus::Failed => split_exit_line(self.body),
                    _ => (self.body, None),
                };
                let status = match code.or(self.exit_code) {
                    Some(code) => Some(CommandExitStatus::ExitCode { code }),
                    // It has not ended yet, or never began.
                    None if self.in_background => None,
                    None if matches!(self.status, ToolStatus::Denied { .. }) => None,
                    None => Some(CommandExitStatus::Success { success: succeeded }),
                };
                let result = result.get_or_insert_default();
                result.output = Some(output);
                result.exit_status = status;
            }
            ActionType::FileEdit { path, changes, result } => {
                let edits = changes.iter().all(|change| matches!(change, FileChange::Edit { .. }));
                if let Some(unified_diff) = self.patch.filter(|_| edits && succeeded) {
                    let path = path.clone();
                    *changes =
                        vec![FileChange::Edit { path, unified_diff, has_line_numbers: true }];
                }
                *result = Some(Body::Text(self.body));
            }
            action => action.set_result(Body::Text(self.body)),
        }
        tool.status = self.status;
    }

    fn into_content(self) -> Text {
        self.body
    }

    fn length(&self) -> usize {
        let patch = self.patch.as_ref().map_or(0, Text::length);
        self.body.length() + patch + length_of_extra(&self.extra)
    }

    fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn content(&self) -> Text {
        self.body.clone()
    }
}

fn status_of(is_error: bool, body: &Text, detail: &ResultDetail) -> ToolStatus {
    if detail.interrupted {
        return ToolStatus::Cancelled;
    }
    match detail.not_run.as_ref().map(Text::decode).as_deref() {
        Some("user-rejected" | "permission-rule") => {
            let reason = detail.feedback.clone().or_else(|| Some(body.clone()));
            return ToolStatus::Denied { reason };
        }
        Some("cancelled") => return ToolStatus::Cancelled,
        _ if !is_error => return ToolStatus::Success,
        _ => {}
    }
    let text = body.decode();
    if is_denial(&text) {
        ToolStatus::Denied { reason: Some(body.clone()) }
    } else if text == "Sibling tool call errored" {
        // Another call of the same batch failed, and this one was not run.
        ToolStatus::Cancelled
    } else {
        ToolStatus::Failed
    }
}

/// Older releases say only in words that a tool was not permitted: the person said no, a rule did, or
/// there was nobody to ask.
fn is_denial(text: &str) -> bool {
    const BEGINNINGS: [&str; 6] = [
        "The user doesn't want to ",
        "Permission for this tool use was denied",
        "Permission denied by user",
        "Claude requested permissions to ",
        "This command requires approval",
        "Command contains quoted characters in flag names",
    ];
    let first_line = text.lines().next().unwrap_or_default();
    BEGINNINGS.iter().any(|beginning| first_line.starts_with(beginning))
        || first_line.contains("The following part requires approval: ")
        || first_line.contains("was blocked. For security, Claude Code ")
        || (first_line.starts_with("Permission to use ") && first_line.contains(" been denied"))
}

/// `<tool_use_error>…</tool_use_error>` says only that the text is an error.
fn without_error_tag(body: Text) -> Text {
    let text = body.decode();
    let Some(inner) = text.strip_prefix("<tool_use_error>").map(str::trim_end) else { return body };
    Text::from(inner.strip_suffix("</tool_use_error>").unwrap_or(inner))
}

/// What a failed command printed begins with a line of its own: `Exit code 2`.
fn split_exit_line(body: Text) -> (Text, Option<i32>) {
    let text = body.decode();
    let (line, output) = text.split_once('\n').unwrap_or((&text, ""));
    match line.strip_prefix("Exit code ").map(|code| code.trim().parse()) {
        Some(Ok(code)) => (Text::from(output), Some(code)),
        _ => (body, None),
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
        assert_eq!(split("Exit code 2\nno\nsuch"), ("no\nsuch".into(), Some(2)));
        assert_eq!(split("Exit code 137"), (String::new(), Some(137)));
        assert_eq!(split("Exit code unknown\nx"), ("Exit code unknown\nx".into(), None));
        assert_eq!(split("fine"), ("fine".into(), None));
    }

    #[test]
    fn words_that_mean_no() {
        for text in [
            "The user doesn't want to proceed with this tool use. The tool use was rejected",
            "This Bash command contains multiple operations. The following part requires approval: x",
            "cd in '/a' was blocked. For security, Claude Code may only change directories to ..",
            "Permission to use Bash with command rm has been denied.",
            "Claude requested permissions to write to /a, but you haven't granted it yet.",
        ] {
            assert!(is_denial(text), "{text}");
        }
        assert!(!is_denial("ls: cannot open directory '/root': Permission denied"));
    }

    #[test]
    fn an_error_is_told_without_its_tag() {
        let untag = |text: &str| without_error_tag(text.into());
        assert_eq!(untag("<tool_use_error>No match.\nx</tool_use_error>"), "No match.\nx");
        assert_eq!(untag("say <tool_use_error>"), "say <tool_use_error>");
    }
}
