//! [`TextualResult`]: results that are stated in words. The exit code of a command is in its output, and a change as it
//! was made is next to the answer.

use serde::{Deserialize, Serialize};

use crate::{
    conversation::{
        ActionType, CommandExitStatus, Json, NormalizedEntry, Text, Timestamp, ToolResult as Body,
        ToolStatus,
        tool_calls::{CallResult, DetailedResult},
    },
    executors::{Extra, files},
};

/// The result of a call, as it is kept while it waits for its call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextualResult {
    inner: DetailedResult,
    /// What a person is shown: of an edit the change as it was made, with line numbers.
    detail: Option<Text>,
}

impl TextualResult {
    /// A result with its text, and fields that are kept with the call.
    pub fn new(
        status: ToolStatus,
        body: Option<Text>,
        timestamp: Option<Timestamp>,
        extra: Extra,
    ) -> Self {
        let mut inner = DetailedResult::new(status, timestamp);
        inner.body = body.map(Body::Text);
        inner.extra = extra;
        Self { inner, detail: None }
    }

    /// How a call ended, and why if it was not permitted.
    pub fn status(has_failed: bool, is_denied: bool, reason: Option<Text>) -> ToolStatus {
        match has_failed {
            true if is_denied => ToolStatus::Denied { reason },
            true => ToolStatus::Failed,
            false => ToolStatus::Success,
        }
    }

    /// The same, with what a person is shown.
    #[must_use]
    pub fn with_detail(self, detail: Option<Text>) -> Self {
        Self { detail, ..self }
    }
}

impl CallResult for TextualResult {
    fn complete(self, call: &mut NormalizedEntry) {
        let Self { mut inner, mut detail } = self;
        let text = inner.clone().into_content();
        match call.tool_mut().map(|tool| &mut tool.action_type) {
            Some(ActionType::CommandRun { .. }) => {
                if let Some(Ended { code, output, report }) = Ended::read(&text.decode()) {
                    inner.body = output.map(Body::Text);
                    inner.exit_status = Some(CommandExitStatus::ExitCode { code });
                    if code != 0 && inner.status == ToolStatus::Success {
                        inner.status = ToolStatus::Failed;
                    }
                    let report = report.map(|report| ("report".to_owned(), Json::from(report)));
                    inner.extra.extend(report);
                }
            }
            action => {
                if let Some(ActionType::FileEdit { changes, .. }) = action {
                    detail = detail.and_then(|diff| files::replace_diff(changes, diff));
                }
                // Gemini's stream leaves out what was read, found or written.
                inner.body = inner.body.filter(|_| !text.is_empty());
            }
        }
        let detail = detail.filter(|detail| !is_repeated(&detail.decode(), &text.decode()));
        inner.extra.extend(detail.map(|detail| ("detail".to_owned(), Json::from(detail))));
        inner.complete(call);
    }

    fn timestamp(&self) -> Option<Timestamp> {
        self.inner.timestamp
    }

    fn content(&self) -> Text {
        let extra = self.inner.extra.iter();
        let extra = extra.map(|(name, json)| format!("\n{name}: {}", json.get()));
        Text::from(self.inner.content().into_string() + &extra.collect::<String>())
    }

    fn length(&self) -> usize {
        self.inner.length() + self.detail.as_ref().map_or(0, Text::length)
    }
}

/// Whether a detail is the text, or a diff that changes nothing of it.
fn is_repeated(detail: &str, text: &str) -> bool {
    let hunk = detail.split_once(" @@\n").map(|(_, lines)| lines).unwrap_or_default();
    let lines = hunk.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    detail == text || !hunk.is_empty() && lines.eq(text.lines())
}

/// How a command ended, as its result says it in words.
#[derive(Debug, Default, PartialEq)]
struct Ended {
    code: i32,
    output: Option<Text>,
    /// What else is told.
    report: Option<Text>,
}

impl Ended {
    /// Words that stand in place of an output, or what the model is told: lines with labels, the output
    /// among them.
    fn read(body: &str) -> Option<Self> {
        if let Some(code) = body.strip_prefix("Command exited with code: ") {
            return Some(Self { code: code.parse().ok()?, ..Self::default() });
        }
        // `<exited with exit code 2>`, a line of its own after the output.
        if let Some((output, line)) = body.trim_end().rsplit_once('<')
            && let Some(line) = line.strip_suffix('>')
            && let Some((_, code)) = line.split_once("exit code ")
            && let Ok(code) = code.parse()
        {
            return Some(Self { code, output: Some(output.into()), report: None });
        }
        let (head, told) = match body.strip_prefix("Output: ") {
            Some(told) => ("", told),
            None => {
                body.split_once("\nOutput: ").filter(|(head, _)| head.starts_with("Command: "))?
            }
        };
        let (told, tail) = told.rsplit_once("\nExit Code: ")?;
        let (output, error) = told.rsplit_once("\nError: ").unwrap_or((told, "(none)"));
        let code = tail.split('\n').next()?.parse().ok()?;
        let report = format!("{head}\nError: {error}\nExit Code: {tail}");
        Some(Self { code, output: Some(output.into()), report: Some(report.into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_stands_alone_or_behind_the_output_or_has_a_label() {
        let read = |body| Ended::read(body).map(|Ended { code, output, .. }| (code, output));
        assert_eq!(read("Command exited with code: 2"), Some((2, None)));
        assert_eq!(
            read(
                "Command: ls\nDirectory: (root)\nOutput: x\ny\nError: (none)\nExit Code: 1\nSignal: (none)"
            ),
            Some((1, Some("x\ny".into())))
        );
        assert_eq!(read("Output: x\nExit Code: -1"), Some((-1, Some("x".into()))));
        assert_eq!(read("Output: x\nExit Code: (none)"), None);
        assert_eq!(read("a\nExit Code: 1"), None);
        assert_eq!(read("a\nb\n<exited with exit code 2>"), Some((2, Some("a\nb\n".into()))));
        let completed = "<shellId: 0 completed with exit code 0>\n";
        assert_eq!(read(completed), Some((0, Some("".into()))));
        assert_eq!(read("a <b>"), None);
        assert_eq!(read("exit code 2>"), None);
    }

    #[test]
    fn a_diff_without_changes_says_what_the_text_says() {
        let diff = "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n one\n two\n";
        assert!(is_repeated(diff, "one\ntwo"));
        assert!(!is_repeated(diff, "one"));
        assert!(is_repeated("same", "same"));
        assert!(!is_repeated("more", ""));
    }
}
