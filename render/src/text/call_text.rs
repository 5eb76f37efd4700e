//! The name and title of a tool call, the same for all human-readable outputs.

use std::borrow::Cow;

use foldline_domain::{ActionType, Json, NormalizedEntry, Text, ToolUse};

use super::terminal::neutralise_line;

/// The name of the tool on one line, or of the action if the log states no name.
pub(crate) fn name(tool: &ToolUse) -> Cow<'_, str> {
    let name = match tool.tool_name.decode() {
        name if name.trim().is_empty() => Cow::Borrowed(tool.action_type.name()),
        name => name,
    };
    edit(name, |name| neutralise_line(name.trim()))
}

/// The title of the call on one line, except for a command, which is unchanged. Arguments are truncated to about
/// `most` bytes.
pub(crate) fn title<'e>(
    entry: &'e NormalizedEntry,
    tool: &'e ToolUse,
    most: usize,
) -> Cow<'e, str> {
    let one_line = |text: &'e Text| edit(text.decode(), neutralise_line);
    match &tool.action_type {
        // A command is shown line by line.
        ActionType::CommandRun { command, .. } if !command.is_empty() => command.decode(),
        // The questions follow.
        ActionType::Question { .. } => Cow::Borrowed(""),
        ActionType::TaskCreate { subagent_type: Some(kind), .. } => {
            format!("{} ({})", one_line(&entry.content), one_line(kind)).into()
        }
        ActionType::Tool { arguments: Some(arguments), .. } => {
            let arguments = compact(arguments, most);
            if entry.content == tool.tool_name {
                arguments.into()
            } else {
                format!("{} {arguments}", one_line(&entry.content)).into()
            }
        }
        _ if entry.content == tool.tool_name => Cow::Borrowed(""),
        _ => one_line(&entry.content),
    }
}

/// Edits a text, borrowing as long as possible.
pub(crate) fn edit(text: Cow<'_, str>, to: impl Fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => to(text),
        Cow::Owned(text) => to(&text).into_owned().into(),
    }
}

/// The beginning of a JSON value, without the white space between its tokens.
pub(crate) fn compact(json: &Json, most: usize) -> String {
    let mut compact = String::new();
    let (mut in_string, mut escaped) = (false, false);
    for c in json.get().chars() {
        if !in_string && c.is_whitespace() {
            continue;
        }
        if c == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = in_string && c == '\\' && !escaped;
        compact.push(c);
        if compact.len() > most {
            compact.push('…');
            break;
        }
    }
    compact
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_compacted_outside_of_strings() {
        let json: Json = serde_json::from_str("{ \"a b\" : [ 1,\n 2, \"c \\\" d\" ] }").unwrap();
        assert_eq!(compact(&json, 100), r#"{"a b":[1,2,"c \" d"]}"#);
        assert_eq!(compact(&json, 4), "{\"a b…");
    }
}
