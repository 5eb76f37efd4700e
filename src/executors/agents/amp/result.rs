//! What a tool of Amp gave back, and how it ends the call.
//!
//! Most tools answer with the text of a JSON object: `{"output", "exitCode"}` of commands,
//! `{"summary", "files"}` of edits, `{"content"}` of what was read.

use serde::{Deserialize, Serialize};

use crate::{
    conversation::{
        ActionType, CommandExitStatus, FileChange, NormalizedEntry, Text, Timestamp,
        ToolResult as Body, ToolStatus, length_of_extra, tool_calls::CallResult,
    },
    executors::{
        Extra,
        content::Blocks,
        dialect::anthropic::ToolResult,
        wire::{Object, value},
    },
};

/// The result of a call, as it is kept while it waits for its call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AmpResult {
    is_error: bool,
    body: Text,
    timestamp: Option<Timestamp>,
    /// Fields that no release is known to have.
    extra: Extra,
}

impl AmpResult {
    pub(super) fn new(answer: ToolResult<'_>, extra: Extra, timestamp: Option<Timestamp>) -> Self {
        Self { is_error: answer.is_error, body: answer.body, timestamp, extra }
    }
}

impl CallResult for AmpResult {
    fn complete(self, call: &mut NormalizedEntry) {
        let Self { is_error, body: whole, mut extra, .. } = self;
        let Some(tool) = call.tool_mut() else { return };
        let decoded = if whole.may_begin_with("{") { whole.decode() } else { "".into() };
        let mut answer = Object::parse(&decoded).ok();
        let body = answer.as_mut().and_then(|answer| take_body(answer, &tool.action_type));
        let known = body.is_some();
        let body = body.unwrap_or_else(|| match &answer {
            Some(_) => Body::Json(serde_json::from_str(&decoded).unwrap_or_default()),
            None => Body::Text(whole.clone()),
        });
        tool.action_type.set_result(body);
        let mut failed = is_error;
        if let ActionType::CommandRun { result, .. } = &mut tool.action_type {
            let code = answer.as_mut().and_then(|answer| answer.take("exitCode", value::parse));
            failed |= code.is_some_and(|code| code != 0);
            let success = CommandExitStatus::Success { success: !is_error };
            let status = code.map_or(success, |code| CommandExitStatus::ExitCode { code });
            result.get_or_insert_default().exit_status = Some(status);
        }
        if let ActionType::FileEdit { changes, .. } = &mut tool.action_type
            && let Some(answer) = &mut answer
        {
            take_diffs(answer, changes);
        }
        tool.status = if failed { ToolStatus::Failed } else { ToolStatus::Success };
        if let Some(answer) = answer.filter(|_| known) {
            extra.extend(answer.into_extra().map(|(name, json)| (format!("result.{name}"), json)));
        }
        if !extra.is_empty() {
            call.metadata_mut().extra.extend(extra);
        }
    }

    fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn content(&self) -> Text {
        self.body.clone()
    }

    fn length(&self) -> usize {
        self.body.length() + length_of_extra(&self.extra)
    }
}

/// What is shown of an answer; nothing where it is shown as it is.
fn take_body(answer: &mut Object<'_>, action: &ActionType) -> Option<Body> {
    match action {
        ActionType::CommandRun { .. } => answer.text("output").map(Body::Text),
        ActionType::FileEdit { .. } => answer.text("summary").map(Body::Text),
        _ => {
            let blocks = Blocks::read(answer.get("content")?);
            if !blocks.unknown.is_empty() {
                return None;
            }
            answer.ignore(&["content"]);
            Some(Body::Text(blocks.text()))
        }
    }
}

/// The changes as they were made, with line numbers. The list stays if it says more than they do.
fn take_diffs(answer: &mut Object<'_>, changes: &mut [FileChange]) {
    let Some(files) = answer.get("files").and_then(value::elements) else { return };
    let mut is_whole = true;
    for file in files {
        let mut file = value::object(file).unwrap_or_default();
        file.ignore(&["type", "additions", "deletions"]);
        let (uri, diff) = (file.str("uri"), file.str("diff"));
        is_whole &= file.rest().is_empty();
        let (Some(uri), Some(diff)) = (uri, diff) else {
            is_whole = false;
            continue;
        };
        let change = changes.iter_mut().find(|change| is_at(&change.path().decode(), &uri));
        match (change, diff.find("@@ ")) {
            (Some(FileChange::Edit { unified_diff, has_line_numbers, .. }), Some(at)) => {
                *unified_diff = Text::from(&diff[at..]);
                *has_line_numbers = true;
            }
            _ => is_whole = false,
        }
    }
    if is_whole {
        answer.ignore(&["files"]);
    }
}

/// Whether a URI is that of a path, which may be relative.
fn is_at(path: &str, uri: &str) -> bool {
    let full = uri.strip_prefix("file://").unwrap_or(uri);
    full.strip_suffix(path).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}
