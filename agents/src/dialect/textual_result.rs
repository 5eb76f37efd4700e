//! [`TextualResult`]: results in text form. The exit code of a command is in its output, and an applied change is next
//! to the result.

use foldline_domain::ToolResult as Body;

use crate::prelude::*;

/// The result of a call, which may wait for its call.
pub type TextualResult = ToolOutcome<TextualWords>;

/// Reads facts from the text of these results.
#[derive(Clone, Debug, PartialEq)]
pub enum TextualWords {}

/// The status of a call, with the reason of a denial.
pub fn status(has_failed: bool, is_denied: bool, reason: Option<Text>) -> ToolStatus {
    match has_failed {
        true if is_denied => ToolStatus::Denied { reason },
        true => ToolStatus::Failed,
        false => ToolStatus::Success,
    }
}

impl ResultParser for TextualWords {
    fn read(outcome: &mut TextualResult, action: &mut ActionType) {
        let text = outcome.body.clone().map(Body::into_text).unwrap_or_default();
        let is_news = |detail: &Text| !is_repeated(&detail.decode(), &text.decode());
        outcome.detail = outcome.detail.take().filter(is_news);
        if !matches!(action, ActionType::CommandRun { .. }) {
            // Gemini's stream omits the content that was read, found or written.
            outcome.body = outcome.body.take().filter(|_| !text.is_empty());
        } else if let Some(Ended { code, output, report }) = Ended::read(&text.decode()) {
            outcome.body = output.map(Body::Text);
            outcome.exit_status = Some(CommandExitStatus::ExitCode { code });
            let report = report.map(|report| ("report".to_owned(), Json::from(report)));
            outcome.extra.extend(report);
        }
    }
}

/// Whether a detail repeats the text, also as a diff with only context lines.
fn is_repeated(detail: &str, text: &str) -> bool {
    let hunk = detail.split_once(" @@\n").map(|(_, lines)| lines).unwrap_or_default();
    let lines = hunk.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    detail == text || !hunk.is_empty() && lines.eq(text.lines())
}

/// The end of a command, parsed from the text of its result.
#[derive(Debug, Default, PartialEq)]
struct Ended {
    code: i32,
    output: Option<Text>,
    /// The remaining text.
    report: Option<Text>,
}

impl Ended {
    /// Parses a text in place of an output, or the text for the model: labelled lines, including the output.
    fn read(body: &str) -> Option<Self> {
        if let Some(code) = body.strip_prefix("Command exited with code: ") {
            return Some(Self { code: code.parse().ok()?, ..Self::default() });
        }
        // `<exited with exit code 2>`, a separate line after the output.
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
