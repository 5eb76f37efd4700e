//! What the program around the agent has to say, in words: compaction, retries, hooks, limits.

use crate::json::Raw;

use crate::{
    conversation::Text,
    executors::wire::{Object, value},
};

/// The conversation was compacted.
#[derive(Clone, Debug, Default)]
pub struct Compaction {
    /// `auto` or `manual`.
    pub trigger: Option<Text>,
    /// Tokens before.
    pub tokens_before: Option<u64>,
    /// Tokens after.
    pub tokens_after: Option<u64>,
}

impl Compaction {
    /// Reads `compact_metadata`, or as session files spell it, `compactMetadata`.
    pub(super) fn read(mut metadata: Object<'_>) -> Self {
        Self {
            trigger: metadata.text("trigger"),
            tokens_before: metadata.u64("pre_tokens").or_else(|| metadata.u64("preTokens")),
            tokens_after: metadata.u64("post_tokens").or_else(|| metadata.u64("postTokens")),
        }
    }

    /// One line for a person.
    pub(super) fn describe(&self, what: &str) -> Text {
        let trigger = self.trigger.as_ref().map(Text::to_string);
        let tokens = match (self.tokens_before, self.tokens_after) {
            (Some(before), Some(after)) => Some(format!("{before} tokens before, {after} after")),
            (Some(before), None) => Some(format!("{before} tokens before")),
            (None, Some(after)) => Some(format!("{after} tokens after")),
            (None, None) => None,
        };
        let facts: Vec<_> = trigger.into_iter().chain(tokens).collect();
        match facts.is_empty() {
            true => Text::from(what),
            false => Text::from(format!("{what} ({})", facts.join(", "))),
        }
    }
}

/// A request to the model failed, and is tried again.
#[derive(Clone, Debug, Default)]
pub struct ApiError {
    /// The HTTP status.
    pub status: Option<u64>,
    /// What went wrong.
    pub message: Option<Text>,
    /// Which attempt failed.
    pub attempt: Option<u64>,
    /// How often it is tried.
    pub max_attempts: Option<u64>,
}

impl ApiError {
    /// One line for a person.
    pub(super) fn describe(&self) -> Text {
        let mut line = String::from("API error");
        if let Some(status) = self.status {
            line += &format!(" {status}");
        }
        if let Some(message) = &self.message {
            line += &format!(": {message}");
        }
        match (self.attempt, self.max_attempts) {
            (Some(attempt), Some(max)) => line += &format!(" (retry {attempt} of {max})"),
            (Some(attempt), None) => line += &format!(" (retry {attempt})"),
            _ => {}
        }
        Text::from(line)
    }
}

/// The innermost message of an error, which providers wrap in `error` objects; a string is one itself.
pub(super) fn error_message(raw: Raw<'_>) -> Text {
    let mut innermost = raw;
    // Errors are wrapped two or three times; deeper ones are not looked for.
    for _ in 0..8 {
        let Some(mut object) = value::object(innermost) else { break };
        match object.raw("error").or_else(|| object.raw("message")) {
            Some(inner) => innermost = inner,
            None => break,
        }
    }
    value::into_text(innermost)
}

/// A hook ended.
#[derive(Clone, Debug, Default)]
pub struct Hook {
    /// Which one: `PreToolUse:Bash`.
    pub name: Option<Text>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// What it printed as errors, else what it printed.
    pub output: Option<Text>,
}

impl Hook {
    /// Takes a hook's fields, in either spelling.
    pub(super) fn take(object: &mut Object<'_>) -> Self {
        let name = object.text("hook_name").or_else(|| object.text("hookName"));
        let exit_code = object.take("exit_code", value::parse);
        let exit_code = exit_code.or_else(|| object.take("exitCode", value::parse));
        let mut output = None;
        for key in ["stderr", "stdout", "output"] {
            let said = object.text(key).filter(|said| !said.is_empty());
            output = output.or(said);
        }
        Self { name, exit_code, output }
    }

    /// One line for a person, if it failed.
    pub(super) fn describe_failure(&self) -> Option<Text> {
        let code = self.exit_code.filter(|code| *code != 0)?;
        let name = self.name.as_ref().map(Text::decode).unwrap_or_default();
        let output = self.output.as_ref().map(Text::decode).unwrap_or_default();
        Some(Text::from(format!("hook {name} failed with exit code {code}: {output}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_unwrapped() {
        let message = |json: &str| {
            let raw = Raw::parse(json).unwrap();
            error_message(raw).decode().into_owned()
        };
        assert_eq!(message(r#""no""#), "no");
        assert_eq!(
            message(r#"{"type":"error","error":{"type":"overloaded","message":"Busy"}}"#),
            "Busy"
        );
        assert_eq!(message(r#"{"status":500,"error":{"error":{"message":"Deep"}}}"#), "Deep");
        assert_eq!(message(r#"{"code":1}"#), r#"{"code":1}"#);
    }

    #[test]
    fn compaction_in_words() {
        let read = |json| Compaction::read(Object::parse(json).unwrap()).describe("compacted");
        assert_eq!(
            read(r#"{"trigger":"auto","preTokens":9,"postTokens":2}"#),
            "compacted (auto, 9 tokens before, 2 after)"
        );
        assert_eq!(
            read(r#"{"trigger":"auto","pre_tokens":9}"#),
            "compacted (auto, 9 tokens before)"
        );
        assert_eq!(read("{}"), "compacted");
    }
}
