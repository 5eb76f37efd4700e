//! The records of a trail, about events ([`Record`]) and about the trail itself: their canonical form, and the limits of
//! their texts.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::conversation::{Digest, DomainEvent};

/// One record. Its members are declared in the order of RFC 8785, and contain only strings and integers, which
/// `serde_json` writes as in RFC 8785: its compact form is therefore the canonical form.
#[derive(Debug, Serialize)]
pub(super) struct Record<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<Exact<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) corr_id: Option<Cow<'e, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entry: Option<&'static str>,
    pub(super) event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) event_sha256: Option<Digest>,
    pub(super) line: Exact<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line_sha256: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) log: Option<Cow<'e, str>>,
    pub(super) offset: Exact<u64>,
    pub(super) prev: Digest,
    pub(super) seq: Exact<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<Cow<'e, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) summary: Cow<'e, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<Cow<'e, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<Cow<'e, str>>,
    pub(super) v: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) warning: Option<&'static str>,
}

/// The value of `event` in [`Begun`].
pub(super) const TRAIL: &str = "trail";

/// The value of `event` in [`Gap`].
pub(super) const GAP: &str = "gap";

/// The value of `event` in [`Signed`].
pub(super) const SIGNATURE: &str = "signature";

/// The first record of a trail that belongs to a ledger. Its members are in the order of RFC 8785, as in all records.
#[derive(Debug, Serialize)]
pub(super) struct Begun<'e> {
    pub(super) commits: Exact<u64>,
    pub(super) event: &'static str,
    pub(super) ledger: &'e str,
    pub(super) prev: Digest,
    pub(super) seq: Exact<u64>,
    pub(super) trail: &'e str,
    pub(super) v: u64,
}

/// Commits of the ledger are missing in the trail.
#[derive(Debug, Serialize)]
pub(super) struct Gap {
    pub(super) after: Exact<u64>,
    pub(super) commits: Exact<u64>,
    pub(super) event: &'static str,
    pub(super) prev: Digest,
    pub(super) seq: Exact<u64>,
    pub(super) v: u64,
}

/// A signature of all preceding records as a whole. The signed message is the canonical form of this record without
/// `signature`, which covers all other records through `prev`.
#[derive(Debug, Serialize)]
pub(super) struct Signed {
    pub(super) commits: Exact<u64>,
    pub(super) event: &'static str,
    pub(super) key: String,
    pub(super) prev: Digest,
    pub(super) seq: Exact<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<String>,
    pub(super) v: u64,
}

impl<'e> Begun<'e> {
    pub(super) fn new(ledger: &'e str, trail: &'e str, commits: u64) -> Self {
        let (prev, seq) = (Digest::default(), Exact(1));
        Self { commits: Exact(commits), event: TRAIL, ledger, prev, seq, trail, v: VERSION }
    }
}

/// The maximum length of a summary in bytes; a truncated one ends with `…`.
pub const MAX_SUMMARY: usize = 120;

/// The maximum length in bytes of any other text, such as an id or a path; a truncated one ends with `…`.
pub const MAX_TEXT: usize = 4096;

/// The maximum length of a line of a trail in bytes, with its line end: more than any record has.
pub const MAX_LINE: usize = 1 << 20;

/// The version of the format.
pub(super) const VERSION: u64 = 2;

/// A text of at most `max` bytes, with `…` if it was truncated.
pub(super) fn cut(text: Cow<'_, str>, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default()))
}

/// An integer; a string of its digits if a double does not represent it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact<N>(pub(super) N);

impl<N: Copy + Serialize + ToString + TryInto<i128>> Serialize for Exact<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let safe = -i128::from(MAX_SAFE)..=i128::from(MAX_SAFE);
        match self.0.try_into() {
            Ok(number) if safe.contains(&number) => self.0.serialize(serializer),
            _ => serializer.serialize_str(&self.0.to_string()),
        }
    }
}

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
