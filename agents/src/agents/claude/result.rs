//! Results of Claude Code's tools, and the status of the call. [`ResultDetail`]: the tool-specific form of a result,
//! `tool_use_result` (in session files `toolUseResult`), of which only data that the result's text lacks is read.

use std::fmt::Write;

use foldline_domain::ToolResult as Body;

use crate::{dialect::anthropic::ToolResult, prelude::*};

/// The result of a call.
pub(super) type ClaudeResult = ToolOutcome<ClaudeWords>;

/// Reads facts from the text of Claude Code's results.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaudeWords {}

pub(super) fn of(result: ToolResult<'_>, detail: ResultDetail) -> ClaudeResult {
    let ToolResult { is_error, body, .. } = result;
    let body = if body.is_empty() { detail.text.clone().unwrap_or_default().into() } else { body };
    let body = if is_error { body.cut(without_error_tag) } else { body };
    let status = status_of(is_error, &body.text, &detail);
    let ResultDetail { in_background, exit_code, patch, duration_ms, agent_id, .. } = detail;
    let success = status == ToolStatus::Success;
    let exit_status = match exit_code {
        Some(code) => Some(CommandExitStatus::ExitCode { code }),
        // The command has not ended yet, or never started.
        None if in_background || matches!(status, ToolStatus::Denied { .. }) => None,
        None => Some(CommandExitStatus::Success { success }),
    };
    let outcome = ClaudeResult::new(status, None).with_content(body);
    let child_session_id = agent_id;
    ClaudeResult {
        exit_status,
        duration_ms,
        child_session_id,
        ..outcome.with_detail(patch.filter(|_| success))
    }
}

impl ResultParser for ClaudeWords {
    const STATES_FAILURE: bool = false;

    fn read(outcome: &mut ClaudeResult, action: &mut ActionType) {
        let patch = outcome.detail.take();
        match action {
            ActionType::CommandRun { .. } if outcome.status == ToolStatus::Failed => {
                let body = outcome.body.take().map(Body::into_text).unwrap_or_default();
                let (output, code) = split_exit_line(body);
                let code = code.map(|code| CommandExitStatus::ExitCode { code });
                outcome.body = Some(Body::Text(output));
                outcome.exit_status = code.or(outcome.exit_status);
            }
            ActionType::FileEdit { path, changes, .. } => {
                let edits = changes.iter().all(|change| matches!(change, FileChange::Edit { .. }));
                if let Some(unified_diff) = patch.filter(|_| edits) {
                    let path = path.clone();
                    *changes =
                        vec![FileChange::Edit { path, unified_diff, has_line_numbers: true }];
                }
            }
            _ => {}
        }
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
        // Another call of the batch failed, so this call did not run.
        ToolStatus::Cancelled
    } else {
        ToolStatus::Failed
    }
}

/// Whether a text reports a denial. Older releases state only in words that the user or a rule denied a tool, or that
/// no user was available.
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

/// Removes the tags `<tool_use_error>..</tool_use_error>`, which only mark the text as an error.
fn without_error_tag(body: Text) -> Text {
    let text = body.decode();
    let Some(inner) = text.strip_prefix("<tool_use_error>").map(str::trim_end) else { return body };
    Text::from(inner.strip_suffix("</tool_use_error>").unwrap_or(inner))
}

/// Splits off the first line of a failed command's output: `Exit code 2`.
fn split_exit_line(body: Text) -> (Text, Option<i32>) {
    let text = body.decode();
    let (line, output) = text.split_once('\n').unwrap_or((&text, ""));
    match line.strip_prefix("Exit code ").map(|code| code.trim().parse()) {
        Some(Ok(code)) => (Text::from(output), Some(code)),
        _ => (body, None),
    }
}

/// Data of a result in addition to its text.
#[derive(Clone, Debug, Default)]
pub(super) struct ResultDetail {
    /// Whether the tool was interrupted.
    pub interrupted: bool,
    /// Whether the command continues in the background.
    pub in_background: bool,
    /// The exit code, in the few logs that state it.
    pub exit_code: Option<i32>,
    /// The output, for results without a text.
    pub text: Option<Text>,
    /// The change of a file in unified format, with the line numbers of the file.
    pub patch: Option<Text>,
    /// The duration in milliseconds.
    pub duration_ms: Option<u64>,
    /// The reason why the tool did not run: `user-rejected`, `permission-rule`, `cancelled`, ...
    pub not_run: Option<Text>,
    /// The user's comment on the rejection.
    pub feedback: Option<Text>,
    /// The session of the sub-agent.
    pub agent_id: Option<SessionId>,
}

impl ResultDetail {
    /// Reads the field next to the message, of any type.
    pub(super) fn read(raw: Raw<'_>) -> Self {
        let Some(mut object) = value::object(raw) else {
            return Self { text: Text::from_raw(raw), ..Self::default() };
        };
        Self {
            interrupted: object.bool("interrupted").unwrap_or(false),
            in_background: object.has("backgroundTaskId"),
            exit_code: object.take("exit_code", value::parse),
            text: take_output(&mut object),
            patch: object.array("structuredPatch").and_then(|hunks| unified_diff(&hunks)),
            duration_ms: object.u64("totalDurationMs").or_else(|| object.u64("durationMs")),
            not_run: None,
            feedback: None,
            agent_id: object.str("agentId").map(SessionId::from),
        }
    }

    /// Reads `tool_result_meta`, a list of `{id, non_execution_kind, user_feedback}`.
    pub(super) fn add_meta(&mut self, meta: &[Raw<'_>], call: Option<&str>) {
        for &raw in meta {
            let Some(mut object) = value::object(raw) else { continue };
            if object.str("id").as_deref() == call {
                self.not_run = object.text("non_execution_kind");
                self.feedback = object.text("user_feedback");
            }
        }
    }
}

fn take_output(object: &mut Object<'_>) -> Option<Text> {
    let stdout = object.text("stdout")?;
    match object.text("stderr").filter(|stderr| !stderr.is_empty()) {
        Some(stderr) if stdout.is_empty() => Some(stderr),
        Some(stderr) => Some(Text::from(format!("{stdout}\n{stderr}"))),
        None => Some(stdout),
    }
}

/// Converts `structuredPatch`, a list of hunks, to a unified diff.
fn unified_diff(hunks: &[Raw<'_>]) -> Option<Text> {
    let mut diff = String::new();
    for &raw in hunks {
        let mut hunk: Object<'_> = value::object(raw)?;
        let old = range(hunk.u64("oldStart")?, hunk.u64("oldLines")?);
        let new = range(hunk.u64("newStart")?, hunk.u64("newLines")?);
        // Writing to a string cannot fail.
        let _ = writeln!(diff, "@@ -{old} +{new} @@");
        for line in hunk.array("lines")? {
            diff.push_str(&value::as_str(line)?);
            diff.push('\n');
        }
    }
    (!diff.is_empty()).then(|| Text::from(diff))
}

/// A range in the notation of `diff`, which omits a length of one.
fn range(start: u64, lines: u64) -> String {
    if lines == 1 { start.to_string() } else { format!("{start},{lines}") }
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

    fn read(detail: &str) -> ResultDetail {
        ResultDetail::read(Raw::parse(detail).unwrap())
    }

    #[test]
    fn hunks_become_a_diff_with_the_line_numbers_of_the_file() {
        let detail = read(
            r#"{"structuredPatch":[{"oldStart":10,"oldLines":2,"newStart":10,"newLines":1,"lines":[" a","-b"]},{"oldStart":40,"oldLines":1,"newStart":39,"newLines":1,"lines":["-\"x\"","+y"]}]}"#,
        );
        let expected = "@@ -10,2 +10 @@\n a\n-b\n@@ -40 +39 @@\n-\"x\"\n+y\n";
        assert_eq!(detail.patch.unwrap(), expected);
        assert!(read(r#"{"structuredPatch":[]}"#).patch.is_none());
        assert!(read(r#"{"structuredPatch":[{"oldStart":"x"}]}"#).patch.is_none());
    }

    #[test]
    fn any_shape_is_read() {
        assert_eq!(read(r#""Error: no""#).text.unwrap(), "Error: no");
        assert_eq!(read(r#"{"stdout":"","stderr":"e"}"#).text.unwrap(), "e");
        assert_eq!(read(r#"{"stdout":"o","stderr":"e"}"#).text.unwrap(), "o\ne");
        assert!(read(r#"{"interrupted":true}"#).interrupted);
        assert!(read(r#"[{"type":"text"}]"#).text.is_none());
    }
}
