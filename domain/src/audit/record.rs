//! The records of a trail: about events ([`Record`]) and about the trail itself, and the limits of their texts.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use super::canonical::MAX_SAFE;
use crate::conversation::Digest;

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
