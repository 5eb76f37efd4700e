//! Calls of opencode's tools, each of which is logged together with its result, and the outcome of a run.

use super::{
    action_mapper,
    session::UserCommand,
    types::{Attachment, OpencodeError, ToolUse},
};
use crate::{action::command_run, content, prelude::*};

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

pub(super) type Cx<'s> = Context<'s, OpencodeResult>;

impl ResultParser for OpencodeWords {
    const DETAIL: &'static str = "metadata.diff";
}

/// The result of a call.
fn of(line: ToolUse<'_>, cx: &mut Cx<'_>) -> OpencodeResult {
    let ToolUse { is_error, output, content, mut metadata, attachments, ended_at, .. } = line;
    let content = content.map(|content| cx.content("content", content));
    let (content, unknown) = content.unzip();
    let exit_code = metadata.take("exit", value::parse);
    let diff = metadata.text("diff");
    let child_session_id = metadata.str("sessionId").map(SessionId::from);
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
    let lines = output.map(Content::from).into_iter().chain(content);
    let lines = lines.chain(attachments.iter().map(file));
    let mut result = OpencodeResult::new(status, ended_at)
        .with_content(Content::lines(lines))
        .with_extra(extra.chain(unknown.unwrap_or_default()).collect())
        .with_detail(diff);
    result.child_session_id = child_session_id;
    result.exit_status = exit_code.map(|code| CommandExitStatus::ExitCode { code });
    result
}

/// A line in place of a file, with its picture.
pub(super) fn file(Attachment { mime, url, filename }: &Attachment<'_>) -> Content {
    match filename {
        _ if mime.starts_with("image/") => content::image_of_url(url),
        Some(filename) => format!("[file: {filename}]").into(),
        None => format!("[file: {mime}]").into(),
    }
}

/// Emits the outcome of a run whose last step ended for this reason.
pub(super) fn run_ended(reason: Option<Cow<'_, str>>, cx: &mut Cx<'_>) {
    let outcome = match reason.as_deref() {
        // The run continues.
        None | Some("tool-calls" | "unknown") => return,
        Some("stop" | "succeeded") => Some(Outcome::Success),
        Some("length") => Some(Outcome::LimitReached),
        Some("error" | "content-filter" | "failed") => Some(Outcome::Failed),
        Some("interrupted") => Some(Outcome::Cancelled),
        Some(_) => None,
    };
    let (outcome_reason, ended_at) = (reason.map(Text::from), cx.at);
    cx.session(Session { outcome, outcome_reason, ended_at, ..Session::default() });
}

/// Emits an error that ended a run.
pub(super) fn run_failed(failure: OpencodeError<'_>, meta: Meta, cx: &mut Cx<'_>) {
    let outcome = match &*failure.name {
        "MessageAbortedError" => Outcome::Cancelled,
        "MessageOutputLengthError" => Outcome::LimitReached,
        _ => Outcome::Failed,
    };
    let message = error(failure, meta, cx);
    let (outcome, outcome_reason, ended_at) = (Some(outcome), Some(message), cx.at);
    cx.session(Session { outcome, outcome_reason, ended_at, ..Session::default() });
}

/// Emits an error; returns its message.
pub(super) fn error(
    OpencodeError { name, message, facts }: OpencodeError<'_>,
    mut meta: Meta,
    cx: &mut Cx<'_>,
) -> Text {
    let name = Text::from(name);
    let message = message.unwrap_or_else(|| name.clone());
    meta.extra.push(("name".to_owned(), Json::from(name)));
    meta.extra.extend(facts);
    cx.entry(NormalizedEntryType::ErrorMessage, message.clone(), meta);
    message
}

/// Emits a command that the user ran, with its result if it ended.
pub(super) fn command_ran(ran: UserCommand, meta: Meta, cx: &mut Cx<'_>) {
    let UserCommand { id, command, status, output, exit_code, ended_at } = ran;
    let call = MappedCall::known(command_run(command), Object::default());
    cx.call(id.clone(), "shell", call, meta);
    let Some(status) = status else { return };
    let mut result = OpencodeResult::new(status, ended_at).with_content(output.map(Content::from));
    result.exit_status = exit_code.map(|code| CommandExitStatus::ExitCode { code });
    cx.result(ResultKey::from(id).with_tool("shell"), result);
}

/// Emits a call and its result.
pub(super) fn call_ended(line: ToolUse<'_>, meta: Meta, cx: &mut Cx<'_>) {
    call_begun(&line, meta, cx);
    let key = ResultKey::from(line.id.clone()).with_tool(Text::from(&*line.name));
    let result = of(line, cx);
    cx.result(key, result);
}

/// Emits a call.
pub(super) fn call_begun(line: &ToolUse<'_>, mut meta: Meta, cx: &mut Cx<'_>) {
    let call = action_mapper::map(&line.name, line.input, cx.cwd().as_deref());
    let title = line.title.clone().filter(|title| *title != call.title);
    meta.extra.extend(title.map(|title| ("title".to_owned(), Json::from(title))));
    cx.call(line.id.clone(), &line.name, call, meta);
}
