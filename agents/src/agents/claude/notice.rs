//! Messages of the program itself: compaction, retries, hooks.

use crate::prelude::*;

/// A line for the user about a compaction, with the prefix `what`.
///
/// Takes the first of these fields that is present. Its unknown fields stay, as `name.field`.
pub(super) fn compaction(object: &mut Object<'_>, names: &[&str], what: &str) -> Text {
    let found = names.iter().find_map(|name| Some((name, object.object(name)?)));
    let Some((name, mut metadata)) = found else { return Text::from(what) };
    let trigger = metadata.text("trigger").as_ref().map(Text::to_string);
    let before = metadata.u64("pre_tokens").or_else(|| metadata.u64("preTokens"));
    let after = metadata.u64("post_tokens").or_else(|| metadata.u64("postTokens"));
    // The records that were kept, and the fate of the others.
    metadata.ignore(&["preservedSegment", "preservedMessages", "preCompactDiscoveredTools"]);
    metadata.ignore(&["preserved_segment", "preserved_messages", "duration_ms", "durationMs"]);
    metadata.ignore(&["cumulativeDroppedTokens", "cumulative_dropped_tokens"]);
    metadata.ignore(&["compactedToolIds", "clearedAttachmentUUIDs"]);
    let saved = metadata.u64("tokensSaved").map(|saved| format!("{saved} tokens saved"));
    object.adopt(name, metadata);
    let tokens = match (before, after) {
        (Some(before), Some(after)) => Some(format!("{before} tokens before, {after} after")),
        (Some(before), None) => Some(format!("{before} tokens before")),
        (None, Some(after)) => Some(format!("{after} tokens after")),
        (None, None) => None,
    };
    let facts: Vec<_> = trigger.into_iter().chain(tokens).chain(saved).collect();
    match facts.is_empty() {
        true => Text::from(what),
        false => Text::from(format!("{what} ({})", facts.join(", "))),
    }
}

/// A line about a failed model request with its HTTP status, the number of the attempt, the maximum number of
/// attempts, and the time until the next one in milliseconds.
pub(super) fn api_error(
    status: Option<u64>,
    message: Option<&Text>,
    attempts: [Option<u64>; 2],
    delay: Option<f64>,
) -> Text {
    let mut line = String::from("API error");
    if let Some(status) = status {
        line += &format!(" {status}");
    }
    if let Some(message) = message {
        line += &format!(": {message}");
    }
    match attempts {
        [Some(attempt), Some(max)] => line += &format!(" (retry {attempt} of {max})"),
        [Some(attempt), None] => line += &format!(" (retry {attempt})"),
        _ => {}
    }
    if let Some(delay) = delay {
        line += &format!(", next attempt after {delay} ms");
    }
    Text::from(line)
}

/// Takes a hook's fields, in either notation. If the hook failed, returns a line for the user with its standard error,
/// otherwise its output.
pub(super) fn hook_failure(object: &mut Object<'_>) -> Option<Text> {
    let name = object.str("hook_name").or_else(|| object.str("hookName")).unwrap_or_default();
    let exit_code: Option<i64> = object.take("exit_code", value::parse);
    let exit_code = exit_code.or_else(|| object.take("exitCode", value::parse));
    let said = ["stderr", "stdout", "output"].map(|key| object.str(key));
    let output = said.into_iter().flatten().find(|said| !said.is_empty()).unwrap_or_default();
    let code = exit_code.filter(|code| *code != 0)?;
    Some(Text::from(format!("hook {name} failed with exit code {code}: {output}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compaction_in_words() {
        let read = |json: &str| {
            let record = format!(r#"{{"m":{json}}}"#);
            let mut record = Object::parse(&record).unwrap();
            let words = compaction(&mut record, &["n", "m"], "compacted").to_string();
            (words, record.rest().len())
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
