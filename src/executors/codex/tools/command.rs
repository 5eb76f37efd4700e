//! Commands: `command_execution` items and `exec_command_end` events.

use crate::json::Raw;

use crate::executors::codex::status::Status;
use crate::{
    conversation::{ActionType, CommandExitStatus, Text, ToolResult, ToolStatus},
    executors::{
        action::MappedCall,
        codex::{case::either, result::CodexResult},
        wire::{Object, value},
    },
};

/// A command that ran.
#[derive(Clone, Debug, Default)]
pub struct CommandExecution {
    /// The command line.
    pub command: Text,
    /// What it printed.
    pub output: Option<Text>,
    /// How it exited; absent while it runs.
    pub exit_code: Option<i32>,
    /// Where it stands.
    pub status: Status,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

impl CommandExecution {
    /// Reads the fields of either form.
    pub fn take(object: &mut Object<'_>) -> Self {
        let taken = Self {
            command: object.take("command", command_line).unwrap_or_default(),
            output: either(object, "aggregated_output", Object::text).or_else(|| {
                let (stdout, stderr) = (object.text("stdout")?, object.text("stderr"));
                Some(match stderr.filter(|stderr| !stderr.is_empty()) {
                    Some(stderr) => Text::from(format!("{stdout}{stderr}")),
                    None => stdout,
                })
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
        let command = self.command.clone();
        MappedCall::new(ActionType::CommandRun { command: command.clone(), result: None }, command)
    }

    pub(super) fn result(&self) -> CodexResult {
        let mut result = CodexResult::new(&self.status, self.output.clone().map(ToolResult::Text));
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
pub fn duration_ms(raw: Raw<'_>) -> Option<u64> {
    let mut duration: Object<'_> = value::object(raw)?;
    let (secs, nanos) = (duration.u64("secs")?, duration.u64("nanos").unwrap_or(0));
    Some(secs.saturating_mul(1000).saturating_add(nanos / 1_000_000))
}

/// A command line: a string as it is; of an argument list that only starts a shell, the script;
/// otherwise the arguments, quoted where a shell would need it.
pub fn command_line(raw: Raw<'_>) -> Option<Text> {
    if let Some(line) = Text::from_raw(raw) {
        return Some(line);
    }
    let arguments: Vec<Raw<'_>> = value::elements(raw)?;
    let arguments: Vec<Text> = arguments.into_iter().map(Text::from_raw).collect::<Option<_>>()?;
    if let [shell, flag, script] = arguments.as_slice()
        && is_shell(&shell.decode())
        && ["-c", "-lc", "-Command", "/c"].contains(&&*flag.decode())
    {
        return Some(script.clone());
    }
    let quoted: Vec<_> = arguments.iter().map(|argument| quote(&argument.decode())).collect();
    Some(Text::from(quoted.join(" ")))
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    ["bash", "sh", "zsh", "dash", "fish", "pwsh", "powershell", "cmd"].contains(&name)
}

fn quote(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,~^".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_read_as_somebody_would_type_them() {
        for (json, line) in [
            (r#""/bin/bash -lc 'ls -la'""#, "/bin/bash -lc 'ls -la'"),
            (r#"["bash","-lc","cd x && ls"]"#, "cd x && ls"),
            (r#"["git","commit","-m","it's done"]"#, r"git commit -m 'it'\''s done'"),
            (r#"["ls"]"#, "ls"),
            (r#"["printf",""]"#, "printf ''"),
        ] {
            let raw = serde_json::from_str(json).unwrap();
            assert_eq!(command_line(raw), Some(line.into()), "{json}");
        }
        assert_eq!(command_line(serde_json::from_str(r#"["ls", 1]"#).unwrap()), None);
    }
}
