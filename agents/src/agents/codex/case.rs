//! Two notations of a name: `codex exec` and rollout files write `in_progress`, the app server writes `inProgress`, and
//! harnesses forward either.

use std::borrow::Cow;

use crate::wire::Object;

/// The word in `snake_case`.
pub(super) fn snake(word: &str) -> Cow<'_, str> {
    if !word.bytes().any(|b| b.is_ascii_uppercase()) {
        return Cow::Borrowed(word);
    }
    let mut snake = String::with_capacity(word.len() + 4);
    for c in word.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    Cow::Owned(snake)
}

/// The `snake_case` key in camelCase.
fn camel(key: &str) -> String {
    let mut words = key.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut chars = word.chars();
        camel.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        camel.push_str(chars.as_str());
    }
    camel
}

/// Takes the field `key`, given in `snake_case`, in either notation.
pub(super) fn either<'a, T>(
    object: &mut Object<'a>,
    key: &str,
    take: impl Fn(&mut Object<'a>, &str) -> Option<T>,
) -> Option<T> {
    take(object, key).or_else(|| take(object, &camel(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_one() {
        assert_eq!(snake("inProgress"), "in_progress");
        assert_eq!(snake("CommandExecution"), "command_execution");
        assert_eq!(snake("in_progress"), "in_progress");
        assert_eq!(camel("aggregated_output"), "aggregatedOutput");
        let mut object = Object::parse(r#"{"exitCode":1,"thread_id":"t"}"#).unwrap();
        assert_eq!(either(&mut object, "exit_code", Object::u64), Some(1));
        assert_eq!(either(&mut object, "thread_id", Object::str).as_deref(), Some("t"));
    }
}
