//! JSON for people: one member a line.

use crate::conversation::Json;

/// Levels beyond this are not indented further: an indent for each would be quadratic.
const MOST_INDENT: usize = 16;

/// A JSON value with a line for each member. Nothing but white space is changed.
pub(super) fn indented(json: &Json) -> String {
    let json = json.get();
    let mut text = String::with_capacity(json.len() + json.len() / 4);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for c in json.chars() {
        if in_string {
            text.push(c);
            (in_string, escaped) = (c != '"' || escaped, c == '\\' && !escaped);
            continue;
        }
        match c {
            '{' | '[' => {
                depth += 1;
                text.push(c);
                new_line(&mut text, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                let end = text.trim_end().len();
                if text.trim_end().ends_with(['{', '[']) {
                    text.truncate(end);
                } else {
                    new_line(&mut text, depth);
                }
                text.push(c);
            }
            ',' => {
                text.push(c);
                new_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            c if c.is_whitespace() => {}
            c => {
                in_string = c == '"';
                text.push(c);
            }
        }
    }
    text
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth.min(MOST_INDENT)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_lines_and_values_are_kept() {
        let json: Json =
            serde_json::from_str(r#"{"a b":[1e400, "x, \"}{"], "c" : {}, "d":[ ]}"#).unwrap();
        let expected =
            "{\n  \"a b\": [\n    1e400,\n    \"x, \\\"}{\"\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(indented(&json), expected);
        let value: serde_json::Value = serde_json::from_str(r#"{"a":[1,{"b":"\\"}]}"#).unwrap();
        let again = indented(&Json::of(&value).unwrap());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&again).unwrap(), value);
    }
}
