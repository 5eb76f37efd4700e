//! Results of Droid's tools, and the status of the call.

use crate::prelude::*;

/// The output of a tool that was denied; the next message states the reason.
const CANCELLED: &str = "Error: tool execution cancelled";

/// The result of a call.
pub(super) type DroidResult = ToolOutcome<DroidWords>;

/// Reads facts from the text of Droid's results.
#[derive(Clone, Debug, PartialEq)]
pub enum DroidWords {}

pub(super) fn status(is_error: bool) -> ToolStatus {
    if is_error { ToolStatus::Failed } else { ToolStatus::Success }
}

impl ResultParser for DroidWords {
    const STATES_FAILURE: bool = false;

    fn read(outcome: &mut DroidResult, action: &mut ActionType) {
        let is_denied = outcome.status == ToolStatus::Failed
            && outcome.body.clone().is_some_and(|body| body.into_text() == CANCELLED);
        if is_denied {
            outcome.status = ToolStatus::Denied { reason: None };
        }
        if !matches!(action, ActionType::CommandRun { .. }) {
            return;
        }
        let body = outcome.body.take().map(ToolResult::into_text).unwrap_or_default();
        let success = match outcome.status {
            ToolStatus::Success => Some(true),
            ToolStatus::Failed => Some(false),
            // The command did not run.
            _ => None,
        };
        let (output, code) = split_exit_line(body);
        outcome.body = Some(ToolResult::Text(output));
        let code = code.map(|code| CommandExitStatus::ExitCode { code });
        outcome.exit_status =
            code.or(success.map(|success| CommandExitStatus::Success { success }));
    }
}

/// Splits off the last line of the output of `Execute`: `\n\n\n[Process exited with code 0]`.
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
