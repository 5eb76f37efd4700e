//! Results of Amp's tools, and the status of the call.
//!
//! Most results are the text of a JSON object: `{"output", "exitCode"}` for commands, `{"summary", "files"}` for edits,
//! `{"content"}` for reads.

use foldline_domain::{Image, ToolResult as Body};

use crate::{content::Blocks, prelude::*};

/// The result of a call.
pub(super) type AmpResult = ToolOutcome<AmpWords>;

/// Reads facts from the text of Amp's results.
#[derive(Clone, Debug, PartialEq)]
pub enum AmpWords {}

impl ResultParser for AmpWords {
    fn read(outcome: &mut AmpResult, action: &mut ActionType) {
        if let ActionType::CommandRun { .. } = action {
            let success = outcome.status == ToolStatus::Success;
            outcome.exit_status = Some(CommandExitStatus::Success { success });
        }
        let whole = outcome.body.clone().map(Body::into_text).unwrap_or_default();
        let decoded = if whole.begins_with("{") { whole.decode() } else { "".into() };
        let Ok(mut answer) = Object::parse(&decoded) else { return };
        let body = take_body(&mut answer, action);
        let (body, images) = body.unzip();
        outcome.images.extend(images.unwrap_or_default());
        let known = body.is_some();
        outcome.body = body.or_else(|| Some(Body::Json(serde_json::from_str(&decoded).ok()?)));
        match action {
            ActionType::CommandRun { .. } => {
                let code = answer.take("exitCode", value::parse);
                let code = code.map(|code| CommandExitStatus::ExitCode { code });
                outcome.exit_status = code.or(outcome.exit_status);
            }
            ActionType::FileEdit { changes, .. } => take_diffs(&mut answer, changes),
            _ => {}
        }
        if known {
            let rest = answer.into_extra().map(|(name, json)| (format!("result.{name}"), json));
            outcome.extra.extend(rest);
        }
    }
}

/// Takes the displayed body of a result, with its pictures; `None` if the result is displayed unchanged.
fn take_body(answer: &mut Object<'_>, action: &ActionType) -> Option<(Body, Vec<Image>)> {
    let content = match action {
        ActionType::CommandRun { .. } => answer.text("output")?.into(),
        ActionType::FileEdit { .. } => answer.text("summary")?.into(),
        _ => {
            let blocks = Blocks::read(answer.get("content")?);
            if !blocks.unknown.is_empty() {
                return None;
            }
            answer.ignore(&["content"]);
            blocks.content()
        }
    };
    Some((Body::Text(content.text), content.images))
}

/// Takes the applied changes with line numbers. The list also stays if it states more.
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

/// Whether a URI refers to a path, which may be relative.
fn is_at(path: &str, uri: &str) -> bool {
    let full = uri.strip_prefix("file://").unwrap_or(uri);
    full.strip_suffix(path).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}
