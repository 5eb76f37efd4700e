//! [`TraceId`], [`SpanId`]: identifiers that are derived from those of the log.

use foldline::position::Digest;
use serde::{Deserialize, Serialize};

/// The identifier of a trace: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct TraceId(String);

/// The identifier of a span: 16 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SpanId(String);

impl TraceId {
    /// The trace of a session. `name` distinguishes the sessions of an agent.
    pub(super) fn of_session(agent: &str, name: &[&str]) -> Self {
        let parts: Vec<_> =
            ["foldline trace", agent].into_iter().chain(name.iter().copied()).collect();
        Self(digits(&parts, 32))
    }

    /// The span of this trace that is named by its kind and a key.
    pub(super) fn span(&self, kind: &str, key: &[&str]) -> SpanId {
        let parts: Vec<_> =
            [self.0.as_str(), kind].into_iter().chain(key.iter().copied()).collect();
        SpanId(digits(&parts, 16))
    }
}

/// The first digits of the SHA-256 of the parts. Each part is preceded by its length, so that no two lists of parts have
/// the same text.
fn digits(parts: &[&str], count: usize) -> String {
    let mut text = String::new();
    for part in parts {
        text.push_str(&part.len().to_string());
        text.push(':');
        text.push_str(part);
    }
    Digest::of(text.as_bytes()).to_hex().as_str().chars().take(count).collect()
}
