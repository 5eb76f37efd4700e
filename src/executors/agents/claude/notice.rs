//! What the program around the agent has to say, in words: compaction, retries, hooks, limits.

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
    /// Takes the field `key`: `compact_metadata`, or as session files spell it, `compactMetadata`. What nobody
    /// knows of it stays, as `key.name`.
    pub(super) fn take(object: &mut Object<'_>, key: &str) -> Option<Self> {
        let mut metadata = object.object(key)?;
        let read = Self {
            trigger: metadata.text("trigger"),
            tokens_before: metadata.u64("pre_tokens").or_else(|| metadata.u64("preTokens")),
            tokens_after: metadata.u64("post_tokens").or_else(|| metadata.u64("postTokens")),
        };
        // Which records were kept, and what became of the others.
        metadata.ignore(&["preservedSegment", "preservedMessages", "preCompactDiscoveredTools"]);
        metadata.ignore(&["preserved_segment", "preserved_messages", "duration_ms", "durationMs"]);
        metadata.ignore(&["cumulativeDroppedTokens", "cumulative_dropped_tokens", "tokensSaved"]);
        metadata.ignore(&["compactedToolIds", "clearedAttachmentUUIDs"]);
        object.adopt(key, metadata);
        Some(read)
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
    fn compaction_in_words() {
        let read = |json: &str| {
            let record = format!(r#"{{"m":{json}}}"#);
            let mut record = Object::parse(&record).unwrap();
            let compaction = Compaction::take(&mut record, "m").unwrap();
            (compaction.describe("compacted").to_string(), record.rest().len())
        };
        assert_eq!(
            read(r#"{"trigger":"auto","preTokens":9,"postTokens":2}"#),
            ("compacted (auto, 9 tokens before, 2 after)".into(), 0)
        );
        assert_eq!(
            read(r#"{"trigger":"auto","pre_tokens":9,"novel":1}"#),
            ("compacted (auto, 9 tokens before)".into(), 1)
        );
        assert_eq!(read("{}"), ("compacted".into(), 0));
    }
}
