//! Makes JSON portable: rewrites values that some JSON readers refuse.

use std::borrow::Cow;

use super::text::{Text, may_hold_lone_surrogate};
use crate::json::decode_literal;

/// The largest depth of a value: readers allow 128, including the levels of entries and documents.
const MAX_DEPTH: usize = 100;

/// A replacement for valid JSON that some readers refuse; `None` if `json` needs none.
///
/// A lone surrogate becomes U+FFFD. A value that nests deeper than readers follow, or that holds a
/// number beyond what a double can be (`1e999`), becomes its own text, a string.
pub(super) fn made_portable(json: &str) -> Option<String> {
    let mut replaced: Option<String> = None;
    let mut depth = 0;
    let mut rest = json;
    while !rest.is_empty() {
        let (plain, from_literal) = rest.split_at(rest.find('"').unwrap_or(rest.len()));
        if !is_shallow(plain, &mut depth) || !numbers(plain).all(is_finite) {
            return Some(Text::from(json).into_literal().into_string());
        }
        let (literal, after) = from_literal.split_at(literal_length(from_literal));
        let portable = portable_literal(literal);
        if let Cow::Owned(_) = portable {
            let done = json.len() - rest.len();
            replaced.get_or_insert_with(|| json[..done].to_owned());
        }
        if let Some(replaced) = &mut replaced {
            replaced.push_str(plain);
            replaced.push_str(&portable);
        }
        rest = after;
    }
    replaced
}

/// How long the string literal is that `json` begins with.
fn literal_length(json: &str) -> usize {
    let mut escaped = false;
    let end = json.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(json.len(), |end| end + 2)
}

fn portable_literal(literal: &str) -> Cow<'_, str> {
    if !may_hold_lone_surrogate(literal) || serde_json::from_str::<String>(literal).is_ok() {
        return Cow::Borrowed(literal);
    }
    Cow::Owned(Text::from(decode_literal(literal)).into_literal().into_string())
}

/// Whether the brackets of a part without strings stay within the depth.
fn is_shallow(plain: &str, depth: &mut usize) -> bool {
    plain.bytes().all(|byte| {
        match byte {
            b'[' | b'{' => *depth += 1,
            b']' | b'}' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        *depth <= MAX_DEPTH
    })
}

/// The numbers of a part without strings.
fn numbers(plain: &str) -> impl Iterator<Item = &str> {
    let in_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
    let words = plain.split(move |c| !in_number(c));
    words.filter(|word| word.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
}

fn is_finite(number: &str) -> bool {
    // Only these can be too large, which is rare.
    let suspicious = number.len() > 300 || number.contains(['e', 'E']);
    !suspicious || number.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let json = r#"{"k\"\uDC00":["\ud83d\ude00\t",1e9],"a":"\\ud800","b":"x\ud800"}"#;
        let portable = made_portable(json).unwrap();
        assert_eq!(
            portable,
            "{\"k\\\"\u{FFFD}\":[\"\\ud83d\\ude00\\t\",1e9],\"a\":\"\\\\ud800\",\"b\":\"x\u{FFFD}\"}"
        );
        assert!(serde_json::from_str::<Value>(&portable).unwrap().is_object());
    }

    #[test]
    fn what_some_readers_refuse_becomes_text() {
        let deep = format!("{}1{}", "[".repeat(101), "]".repeat(101));
        let long = "9".repeat(400);
        for json in [r#"{"n":1e999}"#, "-1E400", &deep, &long] {
            let portable = made_portable(json).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&portable).unwrap(), Value::from(json));
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let wide = format!("[{}]", vec!["[[]]"; 200].join(","));
        for json in [
            r#"{ "a": "\ud83d\ude00", "[[": "1e999 \" \\" }"#,
            "[true,false,null,-0.5e-3,18446744073709551616]",
            "\"\"",
            "1e308",
            &wide,
        ] {
            assert_eq!(made_portable(json), None, "{json}");
        }
    }
}
