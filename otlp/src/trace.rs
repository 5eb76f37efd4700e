//! [`TraceId`] and [`SpanId`], which are derived from what a log states; [`SpanContext`]: both, of one span; and
//! [`TraceScope`]: what a trace contains.

use foldline::position::Digest;
use serde::{Deserialize, Serialize};

/// What a trace contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceScope {
    /// A turn: a message of the user, and everything until the next one.
    #[default]
    Turn,
    /// A session, with all of its turns.
    Session,
}

/// The identifier of a trace: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct TraceId(String);

/// The identifier of a span: 16 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SpanId(String);

/// A span, and the trace that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpanContext {
    pub(super) trace_id: TraceId,
    pub(super) span_id: SpanId,
}

impl TraceId {
    /// The trace of a session. `name` distinguishes the sessions of an agent.
    pub(super) fn of_session(agent: &str, name: &[&str]) -> Self {
        let parts: Vec<_> =
            ["foldline trace", agent].into_iter().chain(name.iter().copied()).collect();
        Self(digits(&parts, 32))
    }

    /// The trace of a turn of the session that has this trace. `turn` distinguishes the turns of a session.
    pub(super) fn of_turn(&self, turn: &SpanId) -> Self {
        Self(digits(&["foldline turn", &self.0, &turn.0], 32))
    }

    /// The span of this trace that is named by its kind and a key.
    pub(super) fn span(&self, kind: &str, key: &[&str]) -> SpanId {
        let parts: Vec<_> =
            [self.0.as_str(), kind].into_iter().chain(key.iter().copied()).collect();
        SpanId(digits(&parts, 16))
    }

    /// The context of that span.
    pub(super) fn context(&self, kind: &str, key: &[&str]) -> SpanContext {
        SpanContext { span_id: self.span(kind, key), trace_id: self.clone() }
    }
}

impl SpanId {
    pub(super) fn as_str(&self) -> &str {
        &self.0
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
