//! Records about the trail itself, not about an event.

use serde::Serialize;

use super::format::{Exact, VERSION};
use crate::conversation::Digest;

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
