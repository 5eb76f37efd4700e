//! What a program adds to an agent's log: lines that the agent printed beside it.
//!
//! An agent prints its log to standard output, and what else it has to say to standard error. A program that
//! runs the agent writes both to one log, so that all of it can be replayed in the same order:
//!
//! ```
//! use foldline::{conversation::Timestamp, executors::aside};
//!
//! let line = aside::stderr("warning: no network", Timestamp::from_millis(0));
//! assert_eq!(
//!     line,
//!     r#"{"type":"foldline.stderr","timestamp":"1970-01-01T00:00:00Z","text":"warning: no network"}"#
//! );
//! ```
//!
//! Such a record is an entry of its own in every format.

use serde_json::json;

use super::{
    context::{Context, Extra},
    wire::Object,
};
use crate::conversation::{Json, NormalizedEntryType, Text, Timestamp, tool_calls::CallResult};

/// The type of a record that holds a line of standard error.
pub(super) const STDERR: &str = "foldline.stderr";

/// The record of a line that an agent printed to standard error at some time, as JSON in one line.
pub fn stderr(text: &str, at: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    let (timestamp, text) = (json!(moment.to_string()), json!(text));
    format!(r#"{{"type":"{STDERR}","timestamp":{timestamp},"text":{text}}}"#)
}

/// Takes what such a record says.
pub(super) fn text(object: &mut Object<'_>) -> Text {
    object.text("text").unwrap_or_default()
}

/// Says what such a record means.
pub(super) fn say<R: CallResult>(text: Text, mut extra: Extra, cx: &mut Context<'_, R>) {
    extra.push(("stream".to_owned(), Json::from(Text::from("stderr"))));
    cx.entry(NormalizedEntryType::SystemMessage, text, (None, extra));
}
