//! The texts of a transcript, which Cursor mixes with its own.

/// Replaces a thought.
pub(super) const REDACTED: &str = "[REDACTED]";

/// A text that Cursor sent to the model for the person.
#[derive(Debug, PartialEq)]
pub(super) struct TypedText {
    /// What the person typed.
    pub(super) typed: Option<String>,
    /// What Cursor added.
    pub(super) context: String,
}

impl TypedText {
    /// Everything that is not between the tags of the person's text is context. A text without them is the person's.
    pub(super) fn read(text: &str) -> Self {
        let inner = text.split_once("<user_query>").and_then(|(before, rest)| {
            let (typed, after) = rest.rsplit_once("</user_query>")?;
            Some((before, typed, after))
        });
        let Some((before, typed, after)) = inner else {
            return Self { typed: Some(text.to_owned()), context: String::new() };
        };
        let typed = typed.strip_prefix('\n').unwrap_or(typed);
        let typed = typed.strip_suffix('\n').unwrap_or(typed);
        let context = [before.trim(), after.trim()].join("\n").trim().to_owned();
        Self { typed: Some(typed.to_owned()), context }
    }
}

/// The text of the agent before the mark at its end; `None` if there is no mark.
pub(super) fn without_mark(text: &str) -> Option<&str> {
    let before = text.strip_suffix(REDACTED)?;
    match before.is_empty() {
        true => Some(before),
        false => before.strip_suffix("\n\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_apart_from_its_context() {
        let read = |text: &str| {
            let TypedText { typed, context } = TypedText::read(text);
            (typed.unwrap_or_default(), context)
        };
        let pair = |typed: &str, context: &str| (typed.to_owned(), context.to_owned());
        assert_eq!(read("<user_query>\nhi\n</user_query>"), pair("hi", ""));
        assert_eq!(
            read("<info>x</info>\n<user_query>\nhi\n</user_query>\n"),
            pair("hi", "<info>x</info>")
        );
        assert_eq!(read("plain"), pair("plain", ""));
    }

    #[test]
    fn only_a_mark_at_the_end_stands_for_a_thought() {
        assert_eq!(without_mark("[REDACTED]"), Some(""));
        assert_eq!(without_mark("So.\n\n[REDACTED]"), Some("So."));
        assert_eq!(without_mark("say [REDACTED]"), None);
        assert_eq!(without_mark("[REDACTED] is said"), None);
    }
}
