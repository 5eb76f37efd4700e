//! `attachment`: what the program gave the model beside a prompt.

use std::borrow::Cow;

use crate::{
    conversation::Text,
    executors::{
        claude::notice::Hook,
        wire::{Object, value},
    },
    json::Raw,
};

/// What the program gave the model beside a prompt.
#[derive(Clone, Debug)]
pub enum Attachment<'a> {
    /// `hook_success`, `hook_non_blocking_error`, `hook_additional_context`: what a hook has to say,
    /// if it has anything.
    Hook {
        /// What the model was told.
        context: Vec<Text>,
        /// What went wrong.
        failure: Option<Text>,
    },
    /// `file` and `selected_lines_in_ide`: what the person pointed at.
    Pointed(Text),
    /// `queued_command`: said while the agent was busy.
    Queued {
        /// What was said.
        prompt: Text,
        /// The person said it, not the program.
        by_person: bool,
    },
    /// Known, and nothing to show: lists of tools, skills and agents, reminders.
    Quiet,
    /// A type that this version does not know.
    Unknown {
        /// The type.
        name: Cow<'a, str>,
        /// The whole attachment.
        raw: Raw<'a>,
    },
}

impl<'a> Attachment<'a> {
    /// Reads an attachment; what nobody knows of it is left to the record.
    pub(super) fn read(raw: Raw<'a>, record: &mut Object<'a>) -> Self {
        let mut object = value::object(raw).unwrap_or_default();
        let name = object.str("type").unwrap_or_default();
        let attachment = match &*name {
            "hook_success" | "hook_non_blocking_error" | "hook_additional_context" => {
                object.ignore(&["command", "durationMs", "hookEvent", "toolUseID"]);
                Self::Hook {
                    context: take_context(&mut object),
                    failure: Hook::take(&mut object).describe_failure(),
                }
            }
            "file" => {
                object.ignore(&["content"]);
                Self::Pointed(Text::from(format!("[file: {}]", take_path(&mut object))))
            }
            "selected_lines_in_ide" => Self::Pointed(describe_selection(&mut object)),
            "queued_command" => match object.text("prompt") {
                Some(prompt) => {
                    object.ignore(&["timestamp"]);
                    Self::Queued { prompt, by_person: take_by_person(&mut object) }
                }
                None => return Self::Unknown { name, raw },
            },
            _ => {
                let Some(fields) = quiet_fields(&name) else { return Self::Unknown { name, raw } };
                object.ignore(fields);
                Self::Quiet
            }
        };
        record.adopt("", object);
        attachment
    }
}

/// The fields of attachments that nothing is made of: lists for the model, and reminders.
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

/// Notices of the program stand in the same queue as what the person says.
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
