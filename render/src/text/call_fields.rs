//! Fields of a call without an equivalent in its action: further arguments, and what the log states about its result. Those that
//! matter for trust are named in the row of the call.

use std::borrow::Cow;

use foldline_domain::{ActionType, Json, Metadata, NormalizedEntry, Text, ToolUse};
use foldline_json::indented;

use super::{human, terminal::neutralise_line};

/// The fields of a call and their values, in the order of the log.
pub(crate) fn fields(entry: &NormalizedEntry) -> impl Iterator<Item = (&str, &Json)> {
    let metadata = entry.metadata.as_ref().filter(|_| entry.tool().is_some());
    metadata.into_iter().flat_map(|metadata| metadata.extra.iter())
}

/// A value as text: a string without quotes, anything else as JSON.
pub(crate) fn value(json: &Json) -> Cow<'_, str> {
    match string(json) {
        Some(text) => text.into_string().into(),
        None => indented(json.get()).into(),
    }
}

fn string(json: &Json) -> Option<Text> {
    json.get().trim_start().starts_with('"').then(|| serde_json::from_str(json.get()).ok())?
}

/// A circumstance of a call that matters for trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) words: String,
    /// Whether a protection was turned off.
    pub(crate) is_risk: bool,
}

/// Names of fields that run a command outside of the sandbox.
const UNCONFINED: [&str; 2] = ["dangerouslyDisableSandbox", "with_escalated_permissions"];

/// Whether a call ran outside of the agent's sandbox, as its log states under several names.
pub fn is_unconfined(metadata: &Metadata) -> bool {
    metadata.extra.iter().any(|(name, json)| lifts_sandbox(name, json))
}

fn lifts_sandbox(name: &str, json: &Json) -> bool {
    let is_true = json.get() == "true";
    is_true && UNCONFINED.contains(&name)
        || name == "sandbox_permissions" && value(json) == "require_escalated"
}

/// Names of fields that let a call run in the background.
const BACKGROUND: [&str; 4] =
    ["run_in_background", "is_background", "isBackground", "fireAndForget"];

/// Names of time limits.
const LIMITS: [&str; 3] = ["timeout", "timeout_ms", "timeoutMs"];

/// Whether a call ran outside of the sandbox, in the background, with a time limit, or with another model; risks first.
pub(crate) fn marks(entry: &NormalizedEntry, tool: &ToolUse) -> Vec<Mark> {
    let marks = fields(entry).filter_map(|(name, json)| {
        let is_true = json.get() == "true";
        let calm = |words: String| Some(Mark { words, is_risk: false });
        match name {
            _ if lifts_sandbox(name, json) => {
                Some(Mark { words: "no sandbox".to_owned(), is_risk: true })
            }
            _ if is_true && BACKGROUND.contains(&name) => calm("in background".to_owned()),
            _ if LIMITS.contains(&name) => calm(format!("timeout {}", limit(name, json, tool)?)),
            "model" if matches!(tool.action_type, ActionType::TaskCreate { .. }) => {
                calm(neutralise_line(&string(json)?.decode()).into_owned())
            }
            _ => None,
        }
    });
    let mut marks: Vec<Mark> = marks.collect();
    marks.sort_by_key(|mark| !mark.is_risk);
    marks
}

/// A time limit. Formats differ in the unit; if it is unknown, the number is shown as it is.
fn limit(name: &str, json: &Json, tool: &ToolUse) -> Option<String> {
    let number: u64 = json.get().parse().ok()?;
    Some(match name != "timeout" || tool.tool_name == "Bash" {
        true => human::duration(number),
        false => human::grouped(number),
    })
}
