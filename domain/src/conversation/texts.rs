//! The texts of an entry, whose words are those that a reader of the entry can see.

use std::borrow::Cow;

use foldline_json::{Text, decode_body};

use super::{
    action::ActionType,
    entry::{NormalizedEntry, ToolStatus},
    size::Part,
};

impl NormalizedEntry {
    /// The content, the [arguments](ActionType::arguments) and the result of the call, and why it was denied.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let of_call = self.tool().into_iter().flat_map(|tool| {
            let arguments = tool.action_type.arguments(&self.content.decode());
            let result = tool.action_type.result_text().map(Text::into_string);
            let ToolStatus::Denied { reason } = &tool.status else {
                return [arguments, result, None];
            };
            [arguments, result, reason.as_ref().map(|reason| reason.decode().into_owned())]
        });
        std::iter::once(self.content.decode()).chain(of_call.flatten().map(Cow::Owned))
    }
}

impl ActionType {
    /// What the tool was called with, each text on lines of its own: paths, changes, prompts, plans, lists, or JSON
    /// without escapes. A text that is also the title of the call is left out. `None` if there are no others.
    pub fn arguments(&self, title: &str) -> Option<String> {
        let mut texts: Vec<String> = Vec::new();
        self.each_argument(|part| match part {
            Part::Text(text) => texts.extend((*text != *title).then(|| text.decode().into_owned())),
            // Escapes occur only in its strings.
            Part::Json(json) => texts.push(decode_body(json.get()).into_owned()),
        });
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}
