//! [`Record`]: what stands in the trail of one event.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use super::{canonical::MAX_SAFE, chain::AuditChain, event_record::EventRecord};
use crate::conversation::{Digest, SessionId, TaskId};

/// How many bytes of what was said stand in a record, at the most; what is cut off ends with `…`.
pub const MAX_SUMMARY: usize = 120;

/// How many bytes of any other text stand in a record, such as an id or a path, at the most; what is cut off ends
/// with `…`.
pub const MAX_TEXT: usize = 4096;

/// The longest line of a trail, in bytes, with its line end: more than any record has.
pub const MAX_LINE: usize = 1 << 20;

/// The version of the format.
pub(super) const VERSION: u64 = 2;

/// One record. Its members are declared in the order of RFC 8785, and hold only strings and integers,
/// which `serde_json` writes as RFC 8785 has them: so its compact form is the canonical one.
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

impl<'e> Record<'e> {
    /// The next record of a chain.
    pub(super) fn next(chain: &'e AuditChain, event: &'e EventRecord) -> Self {
        Self {
            action: event.action,
            at: event.at.map(Exact),
            corr_id: event.corr_id.as_deref().map(Cow::Borrowed),
            entry: event.entry,
            event: event.event,
            event_sha256: event.event_sha256,
            line: Exact(event.position.line),
            line_sha256: event.line_sha256,
            log: chain.log.as_deref().map(bounded),
            offset: Exact(event.position.offset),
            prev: chain.head.hash,
            seq: Exact(chain.head.count.saturating_add(1)),
            session: chain.session.as_ref().map(SessionId::as_str).map(bounded),
            status: event.status,
            summary: Cow::Borrowed(&event.summary),
            task: chain.task.as_ref().map(TaskId::as_str).map(bounded),
            tool: event.tool.as_deref().map(Cow::Borrowed),
            v: VERSION,
            warning: event.warning,
        }
    }
}

fn bounded(text: &str) -> Cow<'_, str> {
    cut(Cow::Borrowed(text), MAX_TEXT)
}

/// A text of at most `max` bytes, and `…` if that is not all of it.
pub(super) fn cut(text: Cow<'_, str>, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default()))
}

/// An integer; a string of its digits where a double does not hold it.
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
