//! Makes JSON portable: rewrites values that some JSON readers reject.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::text::{Text, may_hold_lone_surrogate};
use crate::{decode_literal, scan::is_escaped};

/// The maximum depth of a value: readers allow 128, including the levels of entries and documents.
const MAX_DEPTH: usize = 100;

/// The maximum number of digits of a number without an exponent that is certainly finite.
const LONG_NUMBER: usize = 300;

/// A replacement for valid JSON that some readers reject; `None` if `json` needs none.
///
/// A lone surrogate becomes U+FFFD. A value that is nested too deeply, or contains a number beyond the range of a
/// double (`1e999`), becomes a string with its text.
pub(super) fn made_portable(json: &str) -> Option<String> {
    // If there is none, strings need not be inspected.
    let may_hold_lone_surrogate = may_hold_lone_surrogate(json);
    let mut replaced: Option<String> = None;
    let mut depth = 0;
    let mut rest = json;
    while !rest.is_empty() {
        let quote = memchr(b'"', rest.as_bytes());
        let (plain, from_literal) = rest.split_at(quote.unwrap_or(rest.len()));
        if !is_readable(plain, &mut depth) {
            return Some(Text::from(json).into_literal().into_string());
        }
        let (literal, after) = from_literal.split_at(literal_length(from_literal));
        let portable = match may_hold_lone_surrogate {
            true => portable_literal(literal),
            false => Cow::Borrowed(literal),
        };
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

/// The length of the string literal at the beginning of `json`.
fn literal_length(json: &str) -> usize {
    let bytes = json.as_bytes();
    let mut quotes = memchr_iter(b'"', bytes).skip(1);
    let end = quotes.find(|end| !is_escaped(bytes, *end));
    end.map_or(json.len(), |end| end + 1)
}

fn portable_literal(literal: &str) -> Cow<'_, str> {
    if !may_hold_lone_surrogate(literal) || serde_json::from_str::<String>(literal).is_ok() {
        return Cow::Borrowed(literal);
    }
    Cow::Owned(Text::from(decode_literal(literal)).into_literal().into_string())
}

/// Whether the brackets of a part without strings stay within the depth, and its numbers are finite.
fn is_readable(plain: &str, depth: &mut usize) -> bool {
    // Only long numbers and those with an exponent can be too large, which is rare.
    let mut has_exponent = false;
    let is_shallow = plain.bytes().all(|byte| {
        match byte {
            b'[' | b'{' => *depth += 1,
            b']' | b'}' => *depth = depth.saturating_sub(1),
            b'e' | b'E' => has_exponent = true,
            _ => {}
        }
        *depth <= MAX_DEPTH
    });
    is_shallow && (!has_exponent && plain.len() <= LONG_NUMBER || numbers(plain).all(is_finite))
}

/// The numbers of a part without strings.
fn numbers(plain: &str) -> impl Iterator<Item = &str> {
    let in_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
    let words = plain.split(move |c| !in_number(c));
    words.filter(|word| word.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
}

fn is_finite(number: &str) -> bool {
    let suspicious = number.len() > LONG_NUMBER || number.contains(['e', 'E']);
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
