//! `attachment`: what the program gave the model beside a prompt.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    conversation::Text,
    executors::{
        claude::notice::Hook,
        wire::{Object, value},
    },
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
        raw: &'a RawValue,
    },
}

impl<'a> Attachment<'a> {
    pub(super) fn read(raw: &'a RawValue) -> Self {
        let mut object = value::parse::<Object<'a>>(raw).unwrap_or_default();
        let name = object.str("type").unwrap_or_default();
        match &*name {
            "hook_success" | "hook_non_blocking_error" | "hook_additional_context" => Self::Hook {
                context: take_context(&mut object),
                failure: Hook::take(&mut object).describe_failure(),
            },
            "file" => {
                let path = object.str("displayPath").or_else(|| object.str("filename"));
                Self::Pointed(Text::from(format!("[file: {}]", path.unwrap_or_default())))
            }
            "selected_lines_in_ide" => Self::Pointed(describe_selection(&mut object)),
            "queued_command" => {
                let mode = object.str("commandMode");
                let kind = object.object("origin").and_then(|mut origin| origin.str("kind"));
                let by_person = mode.is_none_or(|mode| mode == "prompt")
                    && kind.is_none_or(|kind| kind == "human");
                match object.text("prompt") {
                    Some(prompt) => Self::Queued { prompt, by_person },
                    None => Self::Unknown { name, raw },
                }
            }
            "task_reminder"
            | "todo_reminder"
            | "deferred_tools_delta"
            | "skill_listing"
            | "agent_listing_delta"
            | "invoked_skills"
            | "command_permissions"
            | "date_change"
            | "mcp_instructions_delta" => Self::Quiet,
            _ => Self::Unknown { name, raw },
        }
    }
}

/// `content` is one text or several.
fn take_context(object: &mut Object<'_>) -> Vec<Text> {
    let several = object.texts("content");
    let texts = several.or_else(|| object.text("content").map(|text| vec![text]));
    texts.unwrap_or_default().into_iter().filter(|text| !text.is_empty()).collect()
}

fn describe_selection(object: &mut Object<'_>) -> Text {
    let path = object.str("displayPath").or_else(|| object.str("filename")).unwrap_or_default();
    let content = object.str("content").unwrap_or_default();
    let lines = match (object.u64("lineStart"), object.u64("lineEnd")) {
        (Some(first), Some(last)) => format!(", lines {first}-{last}"),
        _ => String::new(),
    };
    Text::from(format!("[selection: {path}{lines}]\n{content}"))
}
