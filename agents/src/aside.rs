//! Standard error of an agent as records of its log.
//!
//! An agent prints its log to standard output and other messages to standard error. A program that runs the agent
//! writes both to one log, so that a replay has the same order:
//!
//! ```
//! use foldline_agents::aside;
//! use foldline_domain::Timestamp;
//!
//! let line = aside::stderr("warning: no network", Timestamp::from_millis(0));
//! assert_eq!(
//!     line,
//!     r#"{"type":"foldline.stderr","timestamp":"1970-01-01T00:00:00Z","text":"warning: no network"}"#
//! );
//! ```
//!
//! Every format reads such a record as a separate entry.

use foldline_domain::{Json, NormalizedEntryType, Text, Timestamp, tool_calls::CallResult};
use serde_json::json;

use super::{
    context::{Context, Extra},
    wire::Object,
};

/// The type of a record with a line of standard error.
pub(super) const STDERR: &str = "foldline.stderr";

/// A line of standard error as a JSON record on one line.
pub fn stderr(text: &str, at: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    let (timestamp, text) = (json!(moment.to_string()), json!(text));
    format!(r#"{{"type":"{STDERR}","timestamp":{timestamp},"text":{text}}}"#)
}

/// Takes the text of such a record.
pub(super) fn text(object: &mut Object<'_>) -> Text {
    object.text("text").unwrap_or_default()
}

/// Emits the entry of such a record.
pub(super) fn say<R: CallResult>(text: Text, mut extra: Extra, cx: &mut Context<'_, R>) {
    extra.push(("stream".to_owned(), Json::from(Text::from("stderr"))));
    cx.entry(NormalizedEntryType::SystemMessage, text, (None, extra));
}
