//! One entry of the document.

use std::borrow::Cow;

use foldline_domain::{
    ActionType, FileChange, NormalizedEntry, NormalizedEntryType, ToolResult, ToolStatus, ToolUse,
};

use super::prose::{code, fence, inline, prose, quote};
use crate::{
    human,
    text::{
        call_fields, call_text,
        printed::{plain, spoken},
    },
};

/// The maximum number of bytes of arguments in the heading of a call.
const MOST_TITLE: usize = 200;

/// Appends an entry.
pub(super) fn entry(document: &mut String, entry: &NormalizedEntry) {
    let decoded = entry.content.decode();
    let words = match &entry.entry_type {
        // A part of a log that is not understood is shown as it is.
        NormalizedEntryType::Diagnostic { .. } => Cow::Borrowed(&*decoded),
        _ => spoken(&decoded),
    };
    let is_within =
        entry.metadata.as_ref().is_some_and(|metadata| metadata.parent_corr_id.is_some());
    let who = |document: &mut String, who: &str| {
        let within = if is_within { " (sub-agent)" } else { "" };
        document.push_str(&format!("## {who}{within}\n\n"));
    };
    match &entry.entry_type {
        NormalizedEntryType::UserMessage => {
            who(document, if is_within { "Prompt" } else { "You" });
            quote(document, &words);
        }
        NormalizedEntryType::AssistantMessage => {
            who(document, "Agent");
            prose(document, &words);
        }
        NormalizedEntryType::Thinking => labelled(document, "Thinking", &words),
        NormalizedEntryType::SystemMessage
        | NormalizedEntryType::ModelChange { .. }
        | NormalizedEntryType::Compaction
        | NormalizedEntryType::Continuation => labelled(document, "System", &words),
        NormalizedEntryType::ErrorMessage => labelled(document, "Error", &words),
        NormalizedEntryType::Diagnostic { code } => {
            let what = format!("Warning: {}", code.as_str().replace('_', " "));
            labelled(document, &what, &words);
        }
        NormalizedEntryType::ToolUse(tool) => call(document, entry, tool, is_within),
    }
}

fn labelled(document: &mut String, label: &str, words: &str) {
    document.push_str(&format!("**{label}**\n\n"));
    fence(document, "", words);
}

fn call(document: &mut String, entry: &NormalizedEntry, tool: &ToolUse, is_within: bool) {
    let title = call_text::title(entry, tool, MOST_TITLE);
    let (first, more) = title.trim().split_once('\n').unwrap_or((title.trim(), ""));
    let within = if is_within { " (sub-agent)" } else { "" };
    document.push_str(&format!(
        "### {}{within} {}\n\n",
        inline(&call_text::name(tool)),
        code(first)
    ));
    let duration = tool.duration_ms.map(|ms| format!(", {}", human::duration(ms)));
    let status = tool.status.name().replace('_', " ");
    let marks = call_fields::marks(entry, tool);
    let marks: String = marks.iter().map(|mark| format!(", {}", inline(&mark.words))).collect();
    document.push_str(&format!("{status}{}{marks}\n\n", duration.unwrap_or_default()));
    if let ToolStatus::Denied { reason: Some(reason) } = &tool.status {
        quote(document, &reason.decode());
    }
    if !more.is_empty() {
        fence(document, "sh", &title);
    }
    fields(document, entry);
    match &tool.action_type {
        ActionType::FileEdit { changes, .. } => {
            changes.iter().for_each(|change| changed(document, change));
        }
        ActionType::TodoManagement { todos, .. } => {
            for item in todos {
                let mark = if item.status == "completed" { 'x' } else { ' ' };
                let status = item.status.decode().replace('_', " ");
                let is_plain = ["completed", "done", "pending", ""].contains(&&*status);
                let priority = item.priority.as_ref().map(|priority| priority.decode());
                let priority = priority.filter(|priority| *priority != "medium");
                let notes = (!is_plain).then_some(status).into_iter();
                let notes: Vec<_> = notes.chain(priority.map(String::from)).collect();
                let notes = match notes.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", inline(&notes.join(", "))),
                };
                let words = inline(&item.content.decode());
                document.push_str(&format!("- [{mark}] {words}{notes}\n"));
            }
            document.push('\n');
        }
        ActionType::TaskCreate { prompt: Some(text), .. }
        | ActionType::PlanPresentation { plan: text, .. } => quote(document, &text.decode()),
        ActionType::Question { questions, .. } => {
            questions.iter().for_each(|question| quote(document, &question.decode()));
        }
        ActionType::Tool { arguments: Some(arguments), .. } => {
            fence(document, "json", arguments.get());
        }
        _ => {}
    }
    result(document, &tool.action_type);
}

/// The fields of the call that its action does not show.
fn fields(document: &mut String, entry: &NormalizedEntry) {
    let mut is_list = false;
    for (name, json) in call_fields::fields(entry) {
        let (name, value) = (code(name), call_fields::value(json));
        let value = value.trim();
        is_list = !value.contains('\n');
        match is_list {
            true => document.push_str(&format!("- {name}: {}\n", code(value))),
            false => {
                document.push_str(&format!("- {name}:\n\n"));
                fence(document, "", value);
            }
        }
    }
    if is_list {
        document.push('\n');
    }
}

fn changed(document: &mut String, change: &FileChange) {
    let path = code(&change.path().decode());
    match change {
        FileChange::Edit { unified_diff, .. } => {
            document.push_str(&format!("{path}\n\n"));
            fence(document, "diff", &unified_diff.decode());
        }
        FileChange::Write { content, .. } => {
            document.push_str(&format!("{path}, written\n\n"));
            fence(document, "", &content.decode());
        }
        FileChange::Delete { .. } => document.push_str(&format!("{path}, deleted\n\n")),
        FileChange::Rename { new_path, .. } => {
            document.push_str(&format!("{path}, renamed to {}\n\n", code(&new_path.decode())));
        }
    }
}

fn result(document: &mut String, action: &ActionType) {
    let language = match action {
        ActionType::Tool { result: Some(ToolResult::Json(_)), .. } => "json",
        _ => "",
    };
    let Some(result) = action.result_text() else { return };
    fence(document, language, &plain(&result.decode()));
}
