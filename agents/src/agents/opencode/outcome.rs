//! The outcome of a run, by its end or its error.

use super::{result::OpencodeResult, types::OpencodeError};
use crate::prelude::*;

/// Emits the outcome of a run whose last step ended for this reason.
pub(super) fn finished(reason: Option<Cow<'_, str>>, cx: &mut Context<'_, OpencodeResult>) {
    let outcome = match reason.as_deref() {
        // The run continues.
        None | Some("tool-calls" | "unknown") => return,
        Some("stop") => Some(Outcome::Success),
        Some("length") => Some(Outcome::LimitReached),
        Some("error" | "content-filter") => Some(Outcome::Failed),
        Some(_) => None,
    };
    let (outcome_reason, ended_at) = (reason.map(Text::from), cx.at);
    cx.session(Session { outcome, outcome_reason, ended_at, ..Session::default() });
}

/// Emits an error that ended a run.
pub(super) fn failed(failure: OpencodeError<'_>, meta: Meta, cx: &mut Context<'_, OpencodeResult>) {
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
    cx: &mut Context<'_, OpencodeResult>,
) -> Text {
    let name = Text::from(name);
    let message = message.unwrap_or_else(|| name.clone());
    meta.extra.push(("name".to_owned(), Json::from(name)));
    meta.extra.extend(facts);
    cx.entry(NormalizedEntryType::ErrorMessage, message.clone(), meta);
    message
}
