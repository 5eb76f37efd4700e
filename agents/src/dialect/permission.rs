//! Calls that wait for a permission. The answer is in the call's metadata, as `permission`.

use crate::prelude::*;

const FIELD: &str = "permission";

/// Marks an open call as waiting for an answer.
pub fn ask<R: CallResult>(id: &CorrId, cx: &mut Context<'_, R>) {
    set_status(id, ToolStatus::PendingApproval, None, cx);
}

/// Records the answer in the log's own word: `allow_once`, `reject_once`, `cancelled`.
pub fn answer<R: CallResult>(id: &CorrId, answer: Text, cx: &mut Context<'_, R>) {
    set_status(id, ToolStatus::Created, Some(answer), cx);
}

fn set_status<R: CallResult>(
    id: &CorrId,
    status: ToolStatus,
    answer: Option<Text>,
    cx: &mut Context<'_, R>,
) {
    cx.update(id, |entry| {
        if let Some(tool) = entry.tool_mut() {
            tool.status = status;
        }
        if let Some(answer) = answer {
            entry.metadata_mut().extra.insert(FIELD, answer.into());
        }
    });
}

/// The final status of a denied call; `None` if it was not denied.
pub fn refusal(call: &NormalizedEntry) -> Option<ToolStatus> {
    let answer = Raw::parse(call.metadata.as_ref()?.extra.get(FIELD)?.get()).ok()?;
    let answer = Text::from_raw(answer)?;
    match &*answer.decode() {
        // Droid's word for a denial.
        "cancel" => Some(ToolStatus::Denied { reason: None }),
        answer if answer.starts_with("reject") => Some(ToolStatus::Denied { reason: None }),
        answer if answer.starts_with("cancel") => Some(ToolStatus::Cancelled),
        _ => None,
    }
}

/// Ends the turn: denied calls end as denied. If the turn was cancelled, all calls end.
pub fn end_turn<R: CallResult>(
    outcome: Option<Outcome>,
    end: impl Fn(ToolStatus, Option<Timestamp>) -> R,
    cx: &mut Context<'_, R>,
) {
    let is_cancelled = outcome == Some(Outcome::Cancelled);
    let open: Vec<_> = cx.calls().ids().cloned().collect();
    for id in open {
        let refusal = cx.calls().get(&id).and_then(refusal);
        if let Some(status) = refusal.or(is_cancelled.then_some(ToolStatus::Cancelled)) {
            cx.result(id, end(status, cx.at));
        }
    }
}
