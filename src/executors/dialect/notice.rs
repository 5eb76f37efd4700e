//! Records that say one thing.

use crate::{
    conversation::{NormalizedEntryType, Text, tool_calls::CallResult},
    executors::{Context, Extra, wire::Object},
};

/// A record that says one thing: its name, the kind of its entry, what stands before the words, and the field
/// that has them.
pub type Notice = (&'static str, NormalizedEntryType, &'static str, &'static str);

/// An entry: its kind, its text, and what stands beside it.
pub type Said = (NormalizedEntryType, Text, Extra);

/// The kind of what the agent said last, or of what went wrong instead.
pub fn kind_of_answer(is_error: bool) -> NormalizedEntryType {
    match is_error {
        true => NormalizedEntryType::ErrorMessage,
        false => NormalizedEntryType::AssistantMessage,
    }
}

/// Takes what a record of this name says, if it is one of `notices`. All other fields stand beside it.
pub fn take(notices: &[Notice], name: &str, given: &mut Object<'_>) -> Option<Said> {
    let (_, kind, before, field) = notices.iter().find(|(of, ..)| *of == name)?;
    let words = given.str(field).or_else(|| given.str("error")).unwrap_or_default();
    let facts = std::mem::take(given).into_extra().collect();
    Some((kind.clone(), format!("{before}{words}").into(), facts))
}

/// Says it, with what else the record has.
pub fn say<R: CallResult>(said: Said, extra: Extra, cx: &mut Context<'_, R>) {
    let (kind, text, mut facts) = said;
    facts.extend(extra);
    cx.entry(kind, text, facts);
}
