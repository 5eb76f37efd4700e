//! Calls and their results.

use foldline_domain::{ToolResult as Body, tool_calls::CallResult as _};

use super::{action_mapper, types::ToolCall};
use crate::{
    action::{file_edit, take_exit_status},
    dialect::permission,
    prelude::*,
};

type Cx<'s> = Context<'s, ToolOutcome>;

/// Applies a new or changed call. An unknown call is opened.
pub(super) fn update(call: &ToolCall<'_>, mut extra: Extra, cx: &mut Cx<'_>) {
    let before = cx.calls().get(&call.id).cloned();
    let tool = before.as_ref().and_then(NormalizedEntry::tool);
    let name = call.kind.as_ref().or(tool.map(|tool| &tool.tool_name)).map(Text::decode);
    let name = name.unwrap_or("other".into());
    let title = call.title.as_ref().or(before.as_ref().map(|entry| &entry.content)).cloned();
    if call.input.is_some() || tool.is_none_or(|tool| tool.tool_name.decode() != name) {
        let mapped = action_mapper::map(&name, title, call.input, cx.cwd().as_deref());
        cx.call_again(Some(call.id.clone()), &name, mapped, std::mem::take(&mut extra));
    } else if let Some(title) = &call.title {
        cx.update(&call.id, |entry| entry.content = title.clone());
    }
    let current = tool.map_or(ToolStatus::Created, |tool| tool.status.clone());
    let mut status = call.status.as_ref().unwrap_or(&current).clone();
    if status == ToolStatus::Failed {
        status = before.as_ref().and_then(permission::refusal).unwrap_or(status);
    }
    let mut result = ToolOutcome::new(status, cx.at).with_extra(extra);
    add_output(call, &mut result, cx);
    if result != ToolOutcome::new(current, cx.at) {
        tell(call.id.clone(), result, cx);
    }
}

/// Applies the final or partial result of a call.
pub(super) fn tell(call: CorrId, result: ToolOutcome, cx: &mut Cx<'_>) {
    if result.status.is_final() || cx.calls().get(&call).is_none() {
        cx.result(call, result);
    } else {
        cx.update(&call, |entry| result.complete(entry));
    }
}

/// Adds the blocks, diffs and terminals of a call, and its tool's output.
fn add_output(call: &ToolCall<'_>, result: &mut ToolOutcome, cx: &mut Cx<'_>) {
    let (mut texts, mut changes) = (Vec::new(), Vec::new());
    for raw in &call.content {
        let mut item = value::object(*raw).unwrap_or_default();
        let name = item.str("type").unwrap_or_default();
        let text = match &*name {
            "diff" if item.has("newText") => {
                let path = item.str("path").unwrap_or_default();
                let path = files::relative_path(&path, cx.cwd().as_deref());
                let (before, after) =
                    (item.str("oldText"), item.str("newText").unwrap_or_default());
                changes.push(files::change(&path, before.as_deref(), &after, false));
                Content::default()
            }
            "terminal" if item.has("terminalId") => {
                format!("[terminal: {}]", item.str("terminalId").unwrap_or_default()).into()
            }
            _ => {
                let block = item.raw("content").filter(|_| name == "content");
                item = block.map(|_| item).unwrap_or_default();
                let (text, extra) = cx.content("tool_call", block.unwrap_or(*raw));
                result.extra.extend(extra);
                text
            }
        };
        texts.extend(Some(text).filter(|text| !text.is_empty()));
        result.extra.extend(cx.unknown_fields("tool_call.content", &item.rest()));
    }
    let path = changes.first().map(|change| change.path().clone());
    result.action = path.map(|path| Box::new(file_edit(path, changes).0));
    let content = Content::lines(texts);
    let (text, images) = content.map(|content| (content.text, content.images)).unzip();
    result.body = text.map(Body::Text);
    result.images = images.unwrap_or_default();
    if let Some(output) = call.output {
        result.exit_status = take_exit_status(&mut value::object(output).unwrap_or_default());
        match result.body {
            Some(_) => result.extra.push(("rawOutput".to_owned(), output.into())),
            None => result.body = Some(output.into()),
        }
    }
    result.extra.extend(call.locations.clone().map(|list| ("locations".to_owned(), list)));
}

/// The result of a request to the client, or the state of a command.
pub(super) fn done(mut given: Object<'_>, status: ToolStatus, cx: &Cx<'_>) -> ToolOutcome {
    let mut result = ToolOutcome::new(status, cx.at);
    result.body = given.text("content").or_else(|| given.text("output")).map(Body::Text);
    let exit = given.within("exitStatus", take_exit_status).flatten();
    result.exit_status = exit.or_else(|| take_exit_status(&mut given));
    result.extra.extend(given.into_extra().map(|(name, json)| (format!("result.{name}"), json)));
    result
}
