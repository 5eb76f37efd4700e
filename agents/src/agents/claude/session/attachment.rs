//! `attachment`: context that the program adds to a prompt.

use crate::{claude::notice::hook_failure, content::Blocks, prelude::*};

/// Entries of one kind.
pub(super) type Said = (NormalizedEntryType, Vec<Content>);

/// Reads an attachment; unknown fields are added to the record. Fails with the name of an unknown type.
pub(super) fn read<'a>(raw: Raw<'a>, record: &mut Object<'a>) -> Result<Said, Cow<'a, str>> {
    let mut object = value::object(raw).unwrap_or_default();
    let name = object.str("type").unwrap_or_default();
    let mut kind = NormalizedEntryType::SystemMessage;
    let texts: Vec<Text> = match &*name {
        // Context for the model, and errors.
        "hook_success"
        | "hook_non_blocking_error"
        | "hook_additional_context"
        | "hook_system_message" => {
            object.ignore(&["command", "durationMs", "hookEvent", "toolUseID"]);
            let context = take_context(&mut object);
            context.into_iter().chain(hook_failure(&mut object)).collect()
        }
        // A hook stopped a call or the end of a turn.
        "hook_blocking_error" => {
            object.ignore(&["hookEvent", "toolUseID"]);
            let hook = object.str("hookName").unwrap_or_default();
            let mut error = object.object("blockingError").unwrap_or_default();
            error.ignore(&["command"]);
            let why = error.text("blockingError").or_else(|| object.text("blockingError"));
            object.adopt("blockingError", error);
            vec![Text::from(format!("hook {hook} blocked: {}", why.unwrap_or_default()))]
        }
        "edited_text_file" => {
            object.ignore(&["snippet"]);
            vec![Text::from(format!("file changed outside: {}", take_path(&mut object)))]
        }
        "task_status" => {
            object.ignore(&["taskType", "deltaSummary", "outputFilePath"]);
            let task = object.text("description").or_else(|| object.text("taskId"));
            object.ignore(&["taskId"]);
            let status = object.text("status");
            let text = |status| {
                Text::from(format!("background task {}: {status}", task.unwrap_or_default()))
            };
            status.map(text).into_iter().collect()
        }
        // A file or a folder that the user mentioned.
        "directory" => {
            object.ignore(&["content"]);
            vec![Text::from(format!("[folder: {}]", take_path(&mut object)))]
        }
        "file" => {
            object.ignore(&["content"]);
            vec![Text::from(format!("[file: {}]", take_path(&mut object)))]
        }
        "goal_status" => {
            object.ignore(&["tokens", "iterations", "durationMs"]);
            let is_met = object.bool("met").unwrap_or(false);
            vec![Text::from(if is_met { "goal met" } else { "goal not met" })]
        }
        "selected_lines_in_ide" => vec![describe_selection(&mut object)],
        // A prompt that the user entered while the agent was busy.
        "queued_command" => {
            let Some(prompt) = take_prompt(&mut object) else { return Err(name) };
            object.ignore(&["timestamp", "source_uuid"]);
            let is_notice = prompt.text.begins_with("<task-notification>");
            if take_by_person(&mut object) && !is_notice {
                kind = NormalizedEntryType::UserMessage;
            }
            record.adopt("", object);
            return Ok((kind, vec![prompt]));
        }
        _ => {
            let Some(fields) = quiet_fields(&name) else { return Err(name) };
            object.ignore(fields);
            Vec::new()
        }
    };
    record.adopt("", object);
    Ok((kind, texts.into_iter().map(Content::from).collect()))
}

/// The words of a prompt: a text, or blocks of text and pictures.
fn take_prompt(object: &mut Object<'_>) -> Option<Content> {
    if let Some(prompt) = object.text("prompt") {
        return Some(prompt.into());
    }
    object.get("prompt").filter(|raw| raw.get().starts_with('['))?;
    Some(Blocks::read(object.raw("prompt")?).content())
}

/// The fields of attachments without content for an entry: lists for the model, and reminders.
fn quiet_fields(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "agent_listing_delta" => {
            &["addedTypes", "addedLines", "removedTypes", "isInitial", "showConcurrencyNote"]
        }
        "auto_mode" | "auto_mode_exit" => {
            &["autoModeConsentFlow", "bashFirst", "steerOnly", "bypass", "reminderType"]
        }
        "bash_output_audience_note" => &["toolUseID"],
        "batching_reminder_sent"
        | "critical_system_reminder"
        | "date"
        | "remote_session_change"
        | "silent_turn_reminder"
        | "total_tokens_reminder" => &["text", "content"],
        "budget_usd" => &["used", "total", "remaining"],
        "command_permissions" => &["allowedTools", "model"],
        "compact_file_reference" => &["filename", "displayPath"],
        "date_change" => &["newDate"],
        "deferred_tools_delta" => &[
            "addedNames",
            "addedLines",
            "removedNames",
            "readdedNames",
            "pendingMcpServers",
            "needsAuthMcpServers",
            "failedMcpServers",
        ],
        "deferred_tools_record" => &["names"],
        "dynamic_skill" => &["skillDir", "skillNames", "displayPath"],
        "environment" => &["snapshot", "changes", "rendered"],
        "hook_cancelled" => &["command", "durationMs", "hookEvent", "hookName", "toolUseID"],
        "instructions" => &["files", "text"],
        "invoked_skills" => &["skills"],
        "mcp_instructions_delta" => &["addedNames", "addedBlocks", "removedNames"],
        "model" => &["identity", "text"],
        "nested_memory" => &["path", "displayPath", "content"],
        "plan_file_reference" => &["planFilePath", "planContent"],
        "plan_mode" => &["reminderType", "isSubAgent", "planFilePath", "planExists"],
        "plan_mode_exit" => &["planFilePath", "planExists"],
        "prompt_snapshot" => &["systemPrompt", "tools", "cliPrefix"],
        "read_truncation_notice" => &["banner", "toolUseID", "filePath", "text"],
        // The user's e-mail address, among others.
        "session_context" => &["email", "text"],
        "skill_listing" => &["content", "skillCount", "isInitial", "names"],
        // The call of the tool states the same.
        "structured_output" => &["data"],
        "task_reminder" | "todo_reminder" => &["content", "itemCount"],
        "ultra_effort_enter" | "ultra_effort_exit" => &["reminderType"],
        _ => return None,
    })
}

/// Whether a queued message is from the user: the queue also has notices of the program.
fn take_by_person(object: &mut Object<'_>) -> bool {
    let mode = object.str("commandMode");
    let kind = object.object("origin").and_then(|mut origin| origin.str("kind"));
    let is_meta = object.bool("isMeta").unwrap_or(false);
    !is_meta && mode.is_none_or(|mode| mode == "prompt") && kind.is_none_or(|kind| kind == "human")
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
