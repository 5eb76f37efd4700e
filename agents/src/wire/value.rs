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

/// A timestamp: milliseconds since 1970 as a number (or a string of digits), or an RFC 3339 string.
pub fn as_timestamp(raw: Raw<'_>) -> Option<Timestamp> {
    let text = inside(raw);
    if let Ok(millis) = text.parse() {
        return Some(Timestamp::from_millis(millis));
    }
    if raw.is_string() {
        let moment: jiff::Timestamp = text.parse().ok()?;
        return Some(Timestamp::from_millis(moment.as_millisecond()));
    }
    // 1760806536533.0 is an integer too. A float beyond i64 saturates.
    let millis: f64 = parse(raw)?;
    Some(Timestamp::from_millis(millis as i64))
}

/// The content of a string, or any other value unchanged.
fn inside(raw: Raw<'_>) -> Cow<'_, str> {
    string_body(raw.get()).map_or(Cow::Borrowed(raw.get()), decode_body)
}

/// Any value as text: the content of a string, the JSON form of anything else.
pub fn into_text(raw: Raw<'_>) -> Text {
    Text::from_raw(raw).unwrap_or_else(|| Text::from(raw.get()))
}
