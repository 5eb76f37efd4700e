//! Results of Cursor's tools: an object whose only field is the status.

use foldline_domain::ToolResult as Body;

use super::{action_mapper, types::ToolCall};
use crate::{action::file_edit, prelude::*, report};

type Cx<'s> = Context<'s, ToolOutcome>;

/// Reads `{"success": {..}}`, `{"failure": {..}}`, ..: the result of a call that has ended.
pub(super) fn read(call: &ToolCall<'_>, cx: &mut Cx<'_>) -> ToolOutcome {
    let mut result = ToolOutcome::new(ToolStatus::Success, cx.at);
    let mut outer = call.result.and_then(value::object).unwrap_or_default();
    outer.take("isBackground", |raw| (raw.get() == "false").then_some(()));
    let mut rest = outer.rest();
    let Some(at) = rest.iter().position(|(name, _)| name != "isBackground") else {
        result.body = call.result.map(|raw| Body::Text(value::into_text(raw)));
        return result;
    };
    let (outcome, raw) = rest.remove(at);
    result.status = match &*outcome {
        "success" => ToolStatus::Success,
        "rejected" | "permissionDenied" => ToolStatus::Denied { reason: None },
        "failure" | "error" => ToolStatus::Failed,
        _ => {
            cx.unknown_part(&outcome, raw);
            ToolStatus::Failed
        }
    };
    let mut answer = value::object(raw);
    let is_told = match &mut answer {
        Some(answer) => take(call, answer, &mut result, cx),
        None => {
            result.body = Some(Body::Text(value::into_text(raw)));
            false
        }
    };
    if let ToolStatus::Denied { reason } = &mut result.status {
        *reason = result.body.clone().map(Body::into_text);
    }
    let answer = answer.unwrap_or_default().rest();
    let is_bare = result.body.is_none() && result.action.is_none() && result.exit_status.is_none();
    match is_bare && !is_told && !answer.is_empty() {
        true => result.body = Some(Body::Json(report::object_of(&answer))),
        false => rest.extend(answer),
    }
    let kept = rest.into_iter().map(|(name, raw)| (format!("result.{name}"), raw.into()));
    result.extra.extend(kept);
    result
}

/// Takes the known fields of a result by the kind of the tool. Returns whether entries of a sub-agent show it.
fn take(
    call: &ToolCall<'_>,
    answer: &mut Object<'_>,
    result: &mut ToolOutcome,
    cx: &mut Cx<'_>,
) -> bool {
    result.duration_ms = answer.u64("executionTime").or_else(|| answer.u64("durationMs"));
    result.action = match &*call.kind {
        "editToolCall" => take_edit(answer, cx.cwd().as_deref()).map(Box::new),
        "updateTodosToolCall" if answer.has("todos") => {
            Some(Box::new(action_mapper::take_list(answer, "wasMerge").0))
        }
        _ => None,
    };
    let blocks = match &*call.kind {
        "globToolCall" => answer.raw("files"),
        "mcpToolCall" => answer.raw("content"),
        _ => None,
    };
    let body = match &*call.kind {
        "shellToolCall" => take_output(answer, result).map(Body::Text),
        "grepToolCall" => answer.json("workspaceResults").map(Body::Json),
        _ => blocks.map(|blocks| {
            let (content, extra) = cx.content(&call.kind, blocks);
            result.extra.extend(extra);
            result.images = content.images;
            Body::Text(content.text)
        }),
    };
    result.child_session_id = answer.str("agentId").map(SessionId::from);
    let is_told = &*call.kind == "taskToolCall" && take_steps(answer, call.id.as_ref(), cx);
    if answer.bool("isError") == Some(true) {
        result.status = ToolStatus::Failed;
    }
    // Fields that the call repeats.
    answer.ignore(&["command", "path", "pattern", "workingDirectory"]);
    let words = ["content", "message", "errorMessage", "error", "reason", "markdown"];
    let mut words = words.into_iter().filter_map(|name| answer.text(name));
    let body = body.or_else(|| words.find(|text| !text.is_empty()).map(Body::Text));
    result.body = body.or(result.body.take());
    is_told
}

/// Takes the output of a command. The exit code of a command that continues in the background is ignored.
fn take_output(answer: &mut Object<'_>, result: &mut ToolOutcome) -> Option<Text> {
    let code = answer.take("exitCode", value::parse).filter(|_| !answer.has("shellId"));
    result.exit_status = code.map(|code| CommandExitStatus::ExitCode { code });
    if answer.bool("aborted") == Some(true) {
        result.status = ToolStatus::Cancelled;
    }
    answer.take("signal", |raw| (raw.get() == r#""""#).then_some(()));
    let apart = ["stdout", "stderr"].map(|name| answer.str(name).unwrap_or_default()).concat();
    let together = answer.text("interleavedOutput").filter(|text| text.length() >= apart.len());
    Some(together.unwrap_or(apart.into())).filter(|output| !output.is_empty())
}

/// Takes an applied edit; a new file has no old content.
fn take_edit(answer: &mut Object<'_>, cwd: Option<&str>) -> Option<ActionType> {
    let path = files::relative_path(&answer.get_str("path").unwrap_or_default(), cwd);
    let after = answer.str("afterFullFileContent")?;
    let before = answer.str("beforeFullFileContent");
    answer.ignore(&["diffString"]);
    let change = files::change(&path, before.as_deref(), &after, true);
    Some(file_edit(path, vec![change]).0)
}

/// Takes the steps of a sub-agent, which are entries. Returns whether there is one: its last message is the answer to
/// the call, and is not repeated as the call's result.
fn take_steps(answer: &mut Object<'_>, id: Option<&CorrId>, cx: &mut Cx<'_>) -> bool {
    let parent = std::mem::replace(&mut cx.parent, id.cloned());
    let mut is_told = false;
    for step in answer.array("conversationSteps").unwrap_or_default() {
        let (content, extra) = cx.content("conversationSteps", step);
        if !content.is_empty() {
            cx.entry(NormalizedEntryType::AssistantMessage, content, extra);
            is_told = true;
        }
    }
    cx.parent = parent;
    is_told
}
