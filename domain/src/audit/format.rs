//! Common parts of all records: the format version, the limits, and the notation of integers.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use super::canonical::MAX_SAFE;

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
