//! Commands: `command_execution` items and `exec_command_end` events.

use crate::{
    action::command_run,
    codex::{
        either,
        result::{self, CodexResult, Status},
    },
    command_line::command_line,
    prelude::*,
};

/// A command.
#[derive(Clone, Debug, Default)]
pub struct CommandExecution {
    pub command: Text,
    pub output: Option<Text>,
    /// The exit code; absent while it runs.
    pub exit_code: Option<i32>,
    pub status: Status,
    pub duration_ms: Option<u64>,
}

impl CommandExecution {
    /// Reads the fields of either form.
    pub fn take(object: &mut Object<'_>) -> Self {
        let taken = Self {
            command: object.take("command", command_line).unwrap_or_default(),
            output: either(object, "aggregated_output", Object::text).or_else(|| {
                let (stdout, stderr) = (object.text("stdout"), object.text("stderr"));
                match (stdout, stderr.filter(|stderr| !stderr.is_empty())) {
                    (Some(stdout), Some(stderr)) => Some(format!("{stdout}{stderr}").into()),
                    (stdout, stderr) => stdout.or(stderr),
                }
            }),
            exit_code: either(object, "exit_code", exit_code),
            status: Status::take(object),
            duration_ms: take_duration(object),
        };
        object.ignore(&[
            "stdout",
            "stderr",
            "formatted_output",
            "cwd",
            "source",
            "interaction_input",
        ]);
        object.ignore(&["parsed_cmd", "command_actions", "commandActions"]);
        object.ignore(&["process_id", "processId", "turn_id"]);
        taken
    }

    pub(super) fn call(&self) -> MappedCall {
        command_run(Some(self.command.clone())).into()
    }

    pub(super) fn result(&self) -> CodexResult {
        let mut result = result::of_status(&self.status, self.output.clone().map(ToolResult::Text));
        result.exit_status = self.exit_code.map(|code| CommandExitStatus::ExitCode { code });
        if result.exit_status.is_none() && matches!(self.status, Status::Completed | Status::Failed)
        {
            let success = self.status == Status::Completed;
            result.exit_status = Some(CommandExitStatus::Success { success });
        }
        if result.status == ToolStatus::Success && self.exit_code.is_some_and(|code| code != 0) {
            result.status = ToolStatus::Failed;
        }
        result.duration_ms = self.duration_ms;
        result
    }
}

fn exit_code(object: &mut Object<'_>, key: &str) -> Option<i32> {
    object.take(key, value::parse)
}

/// A duration in milliseconds, as a number or as `{secs, nanos}`.
fn take_duration(object: &mut Object<'_>) -> Option<u64> {
    either(object, "duration_ms", Object::u64).or_else(|| object.take("duration", duration_ms))
}

/// `{secs, nanos}` in milliseconds.
pub(crate) fn duration_ms(raw: Raw<'_>) -> Option<u64> {
    let mut duration: Object<'_> = value::object(raw)?;
    let (secs, nanos) = (duration.u64("secs")?, duration.u64("nanos").unwrap_or(0));
    Some(secs.saturating_mul(1000).saturating_add(nanos / 1_000_000))
}
