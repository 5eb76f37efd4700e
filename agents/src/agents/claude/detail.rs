//! `tool_use_result` (in session files `toolUseResult`): the tool-specific form of the result. Only data that the
//! result's text lacks is read.

use std::fmt::Write;

use crate::prelude::*;

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
