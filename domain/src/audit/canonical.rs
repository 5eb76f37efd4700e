//! Canonical JSON: RFC 8785, with numbers that it cannot represent as strings.

use std::borrow::Cow;

use serde_json::Value;

use crate::conversation::{Digest, DomainEvent};

/// The largest integer up to which a double represents every integer.
pub(super) const MAX_SAFE: u64 = (1 << 53) - 1;

/// The canonical form (RFC 8785) of a JSON text. A number that an IEEE double cannot represent becomes a string with
/// its original text: a number written as an integer beyond ±(2^53 - 1), or too large for a double. A number written
/// with a fraction or an exponent is treated as the nearest double.
///
/// # Errors
///
/// If it is not JSON, or nested deeper than 128 levels.
///
/// ```
/// use foldline_domain::audit::canonical_json;
///
/// let canonical = canonical_json(r#"{ "b": 1.50, "a": [9007199254740993, "\u00e9"] }"#)?;
/// assert_eq!(canonical, r#"{"a":["9007199254740993","é"],"b":1.5}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn canonical_json(json: &str) -> serde_json::Result<String> {
    let value: Value = serde_json::from_str(&quote_large_numbers(json))?;
    serde_json_canonicalizer::to_string(&value)
}

/// The digest of an event's canonical form. An event that contains JSON too deeply nested to have one is digested
/// unchanged.
pub fn event_digest(event: &DomainEvent) -> Digest {
    // Events always have a JSON form, so the fallback is never taken.
    let json = foldline_json::to_string(event).unwrap_or_default();
    match canonical_json(&json) {
        Ok(canonical) => Digest::of(canonical.as_bytes()),
        Err(_) => Digest::of(json.as_bytes()),
    }
}

/// Quotes numbers that no double represents.
fn quote_large_numbers(json: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    let bytes = json.as_bytes();
    while let Some(byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                at = end_of_number(bytes, at);
                let number = json.get(start..at).unwrap_or_default();
                if !fits(number) {
                    out.push_str(json.get(copied..start).unwrap_or_default());
                    out.extend(["\"", number, "\""]);
                    copied = at;
                }
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

fn fits(number: &str) -> bool {
    // Numbers of up to 15 digits fit, which are nearly all.
    if number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        let digits = number.trim_start_matches('-');
        return digits.len() <= 15 || digits.parse::<u64>().is_ok_and(|number| number <= MAX_SAFE);
    }
    number.parse::<f64>().is_ok_and(f64::is_finite)
}

/// The offset after the string that begins at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut escaped = false;
    let body = bytes.iter().skip(at + 1);
    let end = body.take_while(|byte| {
        let closes = **byte == b'"' && !escaped;
        escaped = **byte == b'\\' && !escaped;
        !closes
    });
    at + end.count() + 2
}

fn end_of_number(bytes: &[u8], at: usize) -> usize {
    let of_number = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    at + bytes.iter().skip(at).take_while(of_number).count()
}
