//! [`Record`]: the record of an event.

use std::borrow::Cow;

use serde::Serialize;

use super::format::Exact;
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
