//! What a tool of opencode gave back, and how it ends the call.

use serde::{Deserialize, Serialize};

use super::types::{Attachment, ToolUse};
use crate::{
    conversation::{
        ActionType, CommandExitStatus, Json, NormalizedEntry, Text, Timestamp, ToolResult as Body,
        ToolStatus, length_of_extra, tool_calls::CallResult,
    },
    executors::{Extra, content, files, wire::value},
};

/// How the errors begin of calls that nobody permitted.
const REFUSALS: [&str; 2] =
    ["The user rejected permission to use", "The user has specified a rule which prevents you"];

/// The error of a call that ended with its run.
const ABORTED: &str = "Tool execution aborted";

/// The result of a call, as it is kept while it waits for its call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpencodeResult {
    status: ToolStatus,
    body: Option<Text>,
    exit_code: Option<i32>,
    /// The change as it was made, with line numbers.
    diff: Option<Text>,
    timestamp: Option<Timestamp>,
    /// What else the tool says of its work.
    extra: Extra,
}

impl OpencodeResult {
    pub(super) fn new(line: ToolUse<'_>) -> Self {
        let ToolUse { is_error, output, mut metadata, attachments, ended_at: timestamp, .. } = line;
        let exit_code = metadata.take("exit", value::parse);
        let diff = metadata.text("diff");
        // What the input or the output says.
        metadata.ignore(&["description", "display", "filediff", "files", "preview", "todos"]);
        if metadata.get("output").and_then(Text::from_raw) == output {
            metadata.ignore(&["output"]);
        }
        let begins =
            |prefix: &&str| output.as_ref().is_some_and(|text| text.may_begin_with(prefix));
        let status = match is_error {
            true if REFUSALS.iter().any(begins) => ToolStatus::Denied { reason: output.clone() },
            true if output.as_ref().is_some_and(|text| *text == *ABORTED) => ToolStatus::Cancelled,
            true => ToolStatus::Failed,
            false if exit_code.is_some_and(|code| code != 0) => ToolStatus::Failed,
            false => ToolStatus::Success,
        };
        let extra = metadata.into_extra().map(|(name, json)| (format!("metadata.{name}"), json));
        let (body, extra) = (with_attachments(output, &attachments), extra.collect());
        Self { status, body, exit_code, diff, timestamp, extra }
    }
}

impl CallResult for OpencodeResult {
    fn complete(self, call: &mut NormalizedEntry) {
        let Self { status, body, exit_code, diff, mut extra, .. } = self;
        let Some(tool) = call.tool_mut() else { return };
        match &mut tool.action_type {
            ActionType::CommandRun { result, .. } => {
                let failed = (status == ToolStatus::Failed).then_some(false);
                let stated = failed.map(|success| CommandExitStatus::Success { success });
                let code = exit_code.map(|code| CommandExitStatus::ExitCode { code });
                result.get_or_insert_default().exit_status = code.or(stated);
            }
            ActionType::FileEdit { changes, .. } => {
                let diff = diff.and_then(|diff| files::replace_diff(changes, diff));
                extra.extend(diff.map(|diff| ("metadata.diff".to_owned(), Json::from(diff))));
            }
            _ => {
                extra.extend(diff.map(|diff| ("metadata.diff".to_owned(), Json::from(diff))));
            }
        }
        if let Some(body) = body {
            tool.action_type.set_result(Body::Text(body));
        }
        tool.status = status;
        if !extra.is_empty() {
            call.metadata_mut().extra.extend(extra);
        }
    }

    fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn content(&self) -> Text {
        self.body.clone().unwrap_or_default()
    }

    fn length(&self) -> usize {
        let texts = [&self.body, &self.diff].into_iter().flatten();
        texts.map(Text::length).sum::<usize>() + length_of_extra(&self.extra)
    }
}

fn with_attachments(output: Option<Text>, attachments: &[Attachment<'_>]) -> Option<Text> {
    if attachments.is_empty() {
        return output;
    }
    let mut lines: Vec<_> = output.iter().map(|output| output.decode().into_owned()).collect();
    lines.extend(attachments.iter().map(|Attachment { mime, url, filename }| match filename {
        _ if mime.starts_with("image/") => content::image_of_url(url),
        Some(filename) => format!("[file: {filename}]"),
        None => format!("[file: {mime}]"),
    }));
    Some(Text::from(lines.join("\n")))
}
