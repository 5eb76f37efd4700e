//! `attachment`: context that the program adds to a prompt.

use std::borrow::Cow;

use crate::{
    conversation::{NormalizedEntryType, Text},
    executors::{
        claude::notice::hook_failure,
        wire::{Object, value},
    },
    json::Raw,
};

/// Entries of one kind.
pub(super) type Said = (NormalizedEntryType, Vec<Text>);

/// Reads an attachment; unknown fields are added to the record. Fails with the name of an unknown type.
pub(super) fn read<'a>(raw: Raw<'a>, record: &mut Object<'a>) -> Result<Said, Cow<'a, str>> {
    let mut object = value::object(raw).unwrap_or_default();
    let name = object.str("type").unwrap_or_default();
    let mut kind = NormalizedEntryType::SystemMessage;
    let texts = match &*name {
        // Context for the model, and errors.
        "hook_success" | "hook_non_blocking_error" | "hook_additional_context" => {
            object.ignore(&["command", "durationMs", "hookEvent", "toolUseID"]);
            let context = take_context(&mut object);
            context.into_iter().chain(hook_failure(&mut object)).collect()
        }
        // A file that the user mentioned.
        "file" => {
            object.ignore(&["content"]);
            vec![Text::from(format!("[file: {}]", take_path(&mut object)))]
        }
        "selected_lines_in_ide" => vec![describe_selection(&mut object)],
        // A prompt that the user entered while the agent was busy.
        "queued_command" => {
            let Some(prompt) = object.text("prompt") else { return Err(name) };
            object.ignore(&["timestamp"]);
            if take_by_person(&mut object) {
                kind = NormalizedEntryType::UserMessage;
            }
            vec![prompt]
        }
        _ => {
            let Some(fields) = quiet_fields(&name) else { return Err(name) };
            object.ignore(fields);
            Vec::new()
        }
    };
    record.adopt("", object);
    Ok((kind, texts))
}

/// The fields of attachments without content for an entry: lists for the model, and reminders.
fn quiet_fields(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "agent_listing_delta" => {
            &["addedTypes", "addedLines", "removedTypes", "isInitial", "showConcurrencyNote"]
        }
        "command_permissions" => &["allowedTools"],
        "date_change" => &["newDate"],
        "deferred_tools_delta" => {
            &["addedNames", "addedLines", "removedNames", "readdedNames", "pendingMcpServers"]
        }
        "invoked_skills" => &["skills"],
        "mcp_instructions_delta" => &["addedNames", "addedBlocks", "removedNames"],
        "skill_listing" => &["content", "skillCount", "isInitial", "names"],
        "task_reminder" => &["content", "itemCount"],
        _ => return None,
    })
}

/// Whether a queued message is from the user: the queue also has notices of the program.
fn take_by_person(object: &mut Object<'_>) -> bool {
    let mode = object.str("commandMode");
    let kind = object.object("origin").and_then(|mut origin| origin.str("kind"));
    mode.is_none_or(|mode| mode == "prompt") && kind.is_none_or(|kind| kind == "human")
}

fn take_path<'a>(object: &mut Object<'a>) -> Cow<'a, str> {
    let full = object.str("filename");
    object.str("displayPath").or(full).unwrap_or_default()
}

/// `content` is one text or several.
fn take_context(object: &mut Object<'_>) -> Vec<Text> {
    let several = object.texts("content");
    let texts = several.or_else(|| object.text("content").map(|text| vec![text]));
    texts.unwrap_or_default().into_iter().filter(|text| !text.is_empty()).collect()
}

fn describe_selection(object: &mut Object<'_>) -> Text {
    object.ignore(&["ideName"]);
    let path = take_path(object);
    let content = object.str("content").unwrap_or_default();
    let lines = match (object.u64("lineStart"), object.u64("lineEnd")) {
        (Some(first), Some(last)) => format!(", lines {first}-{last}"),
        _ => String::new(),
    };
    Text::from(format!("[selection: {path}{lines}]\n{content}"))
}
