//! Records with a single message.

use crate::prelude::*;

/// A record with a single message: its name, the kind of its entry, the prefix of the text and the field of the text.
pub type Notice = (&'static str, NormalizedEntryType, &'static str, &'static str);

/// An entry: its kind, its content and its extra fields.
pub type Said = (NormalizedEntryType, Content, Extra);

/// The kind of the agent's last message, or of an error in its place.
pub fn kind_of_answer(is_error: bool) -> NormalizedEntryType {
    match is_error {
        true => NormalizedEntryType::ErrorMessage,
        false => NormalizedEntryType::AssistantMessage,
    }
}

/// Takes the message of a record, if its name is in `notices`. All other fields become extra fields.
pub fn take(notices: &[Notice], name: &str, given: &mut Object<'_>) -> Option<Said> {
    let (_, kind, before, field) = notices.iter().find(|(of, ..)| *of == name)?;
    let words = given.str(field).or_else(|| given.str("error")).unwrap_or_default();
    let facts = std::mem::take(given).into_extra().collect();
    Some((kind.clone(), format!("{before}{words}").into(), facts))
}

/// Emits the message with the extra fields of the record.
pub fn say<R: CallResult>(said: Said, extra: Extra, cx: &mut Context<'_, R>) {
    let (kind, content, mut facts) = said;
    facts.extend(extra);
    cx.entry(kind, content, facts);
}
