//! The texts of an entry, whose words are those that a reader of the entry can see.

use std::borrow::Cow;

use foldline_json::decode_body;

use super::{
    action::ActionType,
    entry::{NormalizedEntry, ToolStatus},
    size::Part,
};

impl NormalizedEntry {
    /// The content, the [arguments](ActionType::arguments) and the result of the call, and why it was denied.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let content = self.content.decode();
        let of_call = self.tool().into_iter().flat_map(|tool| {
            let arguments = tool.action_type.arguments(&self.content.decode()).map(Cow::Owned);
            let result = tool.action_type.result().map(|result| match result {
                Ok(text) => text.decode(),
                Err(json) => Cow::Borrowed(json.get()),
            });
            let reason = match &tool.status {
                ToolStatus::Denied { reason } => reason.as_ref().map(|reason| reason.decode()),
                _ => None,
            };
            [arguments, result, reason].into_iter().flatten()
        });
        std::iter::once(content).chain(of_call)
    }
}

impl ActionType {
    /// What the tool was called with, each text on lines of its own: paths, changes, prompts, plans, lists, and the
    /// names and values of the arguments of another tool. A text that is also the title of the call is left out. `None`
    /// if there are no others.
    pub fn arguments(&self, title: &str) -> Option<String> {
        let mut texts: Vec<String> = Vec::new();
        self.each_argument(|part| match part {
            Part::Text(text) if *text == *title => {}
            Part::Text(text) => texts.push(text.decode().into_owned()),
            Part::Json(json) => add_values(json.get(), &mut texts),
        });
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}

/// Adds the strings of a JSON value, its names among them, and its numbers and words as they are written.
fn add_values(json: &str, texts: &mut Vec<String>) {
    let mut rest = json;
    loop {
        let (plain, string) = rest.split_once('"').unwrap_or((rest, ""));
        let values = plain.split(|c: char| c.is_whitespace() || "[]{},:".contains(c));
        texts.extend(values.filter(|value| !value.is_empty()).map(str::to_owned));
        let mut is_escaped = false;
        let end = string.bytes().position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        });
        let Some((body, after)) = end.and_then(|end| string.split_at_checked(end)) else { return };
        texts.push(decode_body(body).into_owned());
        rest = after.strip_prefix('"').unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NormalizedEntryType, ToolUse};

    #[test]
    fn arguments_are_the_texts_of_a_call_without_its_title() {
        let json = r#"{"a b": [1, 1e-5, "c\nd \"e\" \u00e9\\"], "f":{"":null},"g":true}"#;
        let arguments = Some(serde_json::from_str(json).unwrap());
        let call = ActionType::Tool { tool_name: "t".into(), arguments, result: None };
        let all = "t\na b\n1\n1e-5\nc\nd \"e\" é\\\nf\n\nnull\ng\ntrue";
        assert_eq!(call.arguments("call").as_deref(), Some(all));
        assert_eq!(call.arguments("t").as_deref(), all.strip_prefix("t\n"));
        let read = ActionType::FileRead { path: "a.rs".into(), result: None };
        assert_eq!(read.arguments("a.rs"), None);
        let plan = ActionType::PlanPresentation { plan: "First".into(), result: None };
        let entry_type = NormalizedEntryType::ToolUse(ToolUse::new("plan", plan));
        let mut entry = NormalizedEntry::new(entry_type, "a plan");
        let status = ToolStatus::Denied { reason: Some("no".into()) };
        entry.tool_mut().unwrap().complete(status, "said");
        assert_eq!(entry.texts().collect::<Vec<_>>(), ["a plan", "First", "said", "no"]);
    }
}
