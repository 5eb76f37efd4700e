//! Results of opencode's tools, and the status of the call.

use super::types::{Attachment, ToolUse};
use crate::{content, prelude::*};

/// Prefixes of the errors of denied calls.
const REFUSALS: [&str; 2] =
    ["The user rejected permission to use", "The user has specified a rule which prevents you"];

/// The error of a call that was aborted with its run.
const ABORTED: &str = "Tool execution aborted";

/// The result of a call.
pub(super) type OpencodeResult = ToolOutcome<OpencodeWords>;

/// Reads facts from the text of opencode's results.
#[derive(Clone, Debug, PartialEq)]
pub enum OpencodeWords {}

impl ResultParser for OpencodeWords {
    const DETAIL: &'static str = "metadata.diff";
}

/// The result of a call.
pub(super) fn of(line: ToolUse<'_>) -> OpencodeResult {
    let ToolUse { is_error, output, mut metadata, attachments, ended_at, .. } = line;
    let exit_code = metadata.take("exit", value::parse);
    let diff = metadata.text("diff");
    // Fields that the input or the output repeats.
    metadata.ignore(&["description", "display", "filediff", "files", "preview", "todos"]);
    if metadata.get("output").and_then(Text::from_raw) == output {
        metadata.ignore(&["output"]);
    }
    let begins = |prefix: &&str| output.as_ref().is_some_and(|text| text.begins_with(prefix));
    let status = match is_error {
        true if REFUSALS.iter().any(begins) => ToolStatus::Denied { reason: output.clone() },
        true if output.as_ref().is_some_and(|text| *text == *ABORTED) => ToolStatus::Cancelled,
        true => ToolStatus::Failed,
        false if exit_code.is_some_and(|code| code != 0) => ToolStatus::Failed,
        false => ToolStatus::Success,
    };
    let extra = metadata.into_extra().map(|(name, json)| (format!("metadata.{name}"), json));
    let mut result = OpencodeResult::new(status, ended_at)
        .with_content(with_attachments(output, &attachments))
        .with_extra(extra.collect())
        .with_detail(diff);
    result.exit_status = exit_code.map(|code| CommandExitStatus::ExitCode { code });
    result
}

fn with_attachments(output: Option<Text>, attachments: &[Attachment<'_>]) -> Option<Content> {
    let output = output.into_iter().map(Content::from);
    Content::lines(output.chain(attachments.iter().map(file)))
}

/// A line in place of a file, with its picture.
pub(super) fn file(Attachment { mime, url, filename }: &Attachment<'_>) -> Content {
    match filename {
        _ if mime.starts_with("image/") => content::image_of_url(url),
        Some(filename) => format!("[file: {filename}]").into(),
        None => format!("[file: {mime}]").into(),
    }
}
