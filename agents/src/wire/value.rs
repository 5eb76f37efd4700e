//! Functions that read a single raw value; [`Object`](crate::wire::Object) reads its fields with them.

use std::borrow::Cow;

use foldline_domain::{Text, Timestamp};
use foldline_json::{Raw, Scanner, decode_body, decode_literal, string_body};
use serde::Deserialize;

pub use super::object::object;

/// The value as `T`, if it is one.
pub fn parse<'a, T: Deserialize<'a>>(raw: Raw<'a>) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// The largest number of elements of an array that is parsed. A larger one is kept as a raw value: an
/// element of two bytes in the log costs hundreds of bytes once it is parsed.
pub const MAX_ELEMENTS: usize = 1 << 14;

/// The elements of an array, unless it has [too many](MAX_ELEMENTS).
pub fn elements(raw: Raw<'_>) -> Option<Vec<Raw<'_>>> {
    let mut elements = Vec::new();
    Scanner::of(raw).array(|element| {
        elements.push(element);
        (elements.len() <= MAX_ELEMENTS).then_some(())
    })?;
    Some(elements)
}

/// A string, borrowed if it has no escape.
pub fn as_str(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    raw.is_string().then(|| decode_literal(raw.get()))
}

/// An integer that is not negative; also one written as a string.
pub fn as_u64(raw: Raw<'_>) -> Option<u64> {
    inside(raw).parse().ok()
}

/// A timestamp: a number of milliseconds since 1970 (or a string of its digits), or an RFC 3339 string.
///
/// A number that would be a time before 1973 or after 5138 in milliseconds, and is not in another unit, is one of
/// seconds, microseconds or nanoseconds. A number below 100,000,000 is before 1973 in each, and stays as it is.
pub fn as_timestamp(raw: Raw<'_>) -> Option<Timestamp> {
    timestamp(raw, |number| match number.unsigned_abs() {
        0..SECONDS => number,
        SECONDS..MILLIS => number.saturating_mul(1_000),
        MILLIS..MICROS => number,
        MICROS..NANOS => number / 1_000,
        NANOS.. => number / 1_000_000,
    })
}

/// The least numbers that are taken for seconds, milliseconds, microseconds and nanoseconds since 1970: in 1973.
const SECONDS: u64 = 100_000_000;
const MILLIS: u64 = SECONDS * 1_000;
const MICROS: u64 = MILLIS * 1_000;
const NANOS: u64 = MICROS * 1_000;

/// A timestamp in milliseconds, as the log states, whatever its size; or an RFC 3339 string.
pub fn as_millis(raw: Raw<'_>) -> Option<Timestamp> {
    timestamp(raw, |number| number)
}

fn timestamp(raw: Raw<'_>, millis: impl Fn(i64) -> i64) -> Option<Timestamp> {
    let text = inside(raw);
    if let Ok(number) = text.parse() {
        return Some(Timestamp::from_millis(millis(number)));
    }
    if raw.is_string() {
        let moment: jiff::Timestamp = text.parse().ok()?;
        return Some(Timestamp::from_millis(moment.as_millisecond()));
    }
    // 1760806536533.0 is an integer too, and 1760806536.533 has milliseconds. A float beyond i64 saturates.
    let number: f64 = parse(raw)?;
    let whole = number as i64;
    let is_in_seconds = millis(whole) != whole && whole.unsigned_abs() < MILLIS;
    Some(Timestamp::from_millis(match is_in_seconds {
        true => (number * 1_000.0).round() as i64,
        false => millis(whole),
    }))
}

/// The content of a string, or any other value unchanged.
fn inside(raw: Raw<'_>) -> Cow<'_, str> {
    string_body(raw.get()).map_or(Cow::Borrowed(raw.get()), decode_body)
}

/// Any value as text: the content of a string, the JSON form of anything else.
pub fn into_text(raw: Raw<'_>) -> Text {
    Text::from_raw(raw).unwrap_or_else(|| Text::from(raw.get()))
}
