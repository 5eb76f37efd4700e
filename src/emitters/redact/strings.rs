//! The strings of a JSON text, wherever they are.

use std::borrow::Cow;

use crate::json::{decode_literal, literal};

/// Fields that hold ids. Most ids look random, and are none's secret.
const IDS: [&str; 7] = [
    "corrId",
    "corr_id",
    "parentCorrId",
    "messageId",
    "message_id",
    "session_id",
    "parent_session_id",
];

/// The text with every string changed by `to`, names of fields included, which says `None` for strings that
/// stay. It is told whether a string is an id.
pub(super) fn map(json: &str, mut to: impl FnMut(&str, bool) -> Option<String>) -> String {
    let mut mapped = String::with_capacity(json.len());
    let mut rest = json;
    let mut field = Cow::Borrowed("");
    while let Some((before, string)) = split_at_quote(rest) {
        mapped.push_str(before);
        let (string, after) = string.split_at(end_of_string(string));
        let is_field = after.trim_start().starts_with(':');
        let decoded = decode_literal(string);
        let is_id = !is_field && IDS.contains(&&*field);
        match to(&decoded, is_id) {
            Some(changed) => mapped.push_str(&literal(&changed)),
            None => mapped.push_str(string),
        }
        if is_field {
            field = decoded;
        }
        rest = after;
    }
    mapped + rest
}

fn split_at_quote(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(text.find('"')?)
}

/// Where a string ends, behind its closing quote.
fn end_of_string(string: &str) -> usize {
    let mut is_escaped = false;
    let inside = string.bytes().enumerate().skip(1);
    for (at, byte) in inside {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    string.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_is_seen_and_nothing_else_changes() {
        let json = r#"{"a":1e400,"b\"":["x\\","\u0041"],"corrId":"x", "c" : {"x":"{\"x\":1}"}}"#;
        let mut ids = Vec::new();
        let mapped = map(json, |text, is_id| {
            ids.extend(is_id.then(|| text.to_owned()));
            text.contains('x').then(|| text.replace('x', "\"y\""))
        });
        let expected = r#"{"a":1e400,"b\"":["\"y\"\\","\u0041"],"corrId":"\"y\"", "c" : {"\"y\"":"{\"\"y\"\":1}"}}"#;
        assert_eq!(mapped, expected);
        assert_eq!(ids, ["x"]);
        assert_eq!(map(json, |_, _| None), json);
    }
}
