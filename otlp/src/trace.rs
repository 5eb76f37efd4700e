//! [`TraceId`] and [`SpanId`], which are derived from what a log states; [`SpanContext`]: both, of one span; and
//! [`TraceScope`]: what a trace contains; [`TraceParent`]: a span of another program.

use std::{fmt, str::FromStr};

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

/// A span that another program is started in: the `traceparent` and the `tracestate` of [W3C Trace Context][w3c].
///
/// ```
/// use foldline_otlp::TraceParent;
///
/// let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let caller: TraceParent = text.parse()?;
/// assert_eq!(caller.to_string(), text);
/// assert_eq!(caller.child("00f067aa0ba902b7")?.to_string(), text.replace("b7ad6b7169203331", "00f067aa0ba902b7"));
/// assert!("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01".parse::<TraceParent>().is_err());
/// # Ok::<(), foldline_otlp::InvalidTraceParent>(())
/// ```
///
/// [w3c]: https://www.w3.org/TR/trace-context/
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent {
    pub(super) context: SpanContext,
    flags: String,
    pub(super) state: Option<String>,
}

/// A text that is not a `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTraceParent;

impl TraceParent {
    /// The same span with the `tracestate` that was given with it.
    #[must_use]
    pub fn with_state(self, state: Option<String>) -> Self {
        Self { state, ..self }
    }

    /// Another span of the same trace.
    ///
    /// # Errors
    /// The id does not have 16 hexadecimal digits in lower case, or they are all 0.
    pub fn child(&self, span_id: &str) -> Result<Self, InvalidTraceParent> {
        let text = format!("00-{}-{span_id}-{}", self.context.trace_id.0, self.flags);
        Ok(text.parse::<Self>()?.with_state(self.state.clone()))
    }
}

impl FromStr for TraceParent {
    type Err = InvalidTraceParent;

    fn from_str(text: &str) -> Result<Self, InvalidTraceParent> {
        let is_hex = |digits: &str, length| {
            let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
            digits.len() == length && digits.bytes().all(is_digit)
        };
        let is_id =
            |digits: &str, length| is_hex(digits, length) && digits.bytes().any(|d| d != b'0');
        let mut parts = text.split('-');
        let mut next = || parts.next().unwrap_or_default();
        let (version, trace, span, flags) = (next(), next(), next(), next());
        // A later version may have more parts.
        let is_complete = version != "00" || parts.next().is_none();
        match is_hex(version, 2)
            && version != "ff"
            && is_id(trace, 32)
            && is_id(span, 16)
            && is_hex(flags, 2)
            && is_complete
        {
            true => Ok(Self {
                context: SpanContext {
                    trace_id: TraceId(trace.into()),
                    span_id: SpanId(span.into()),
                },
                flags: flags.to_owned(),
                state: None,
            }),
            false => Err(InvalidTraceParent),
        }
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SpanContext { trace_id, span_id } = &self.context;
        write!(f, "00-{}-{}-{}", trace_id.0, span_id.0, self.flags)
    }
}

impl fmt::Display for InvalidTraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a traceparent of W3C Trace Context")
    }
}

impl std::error::Error for InvalidTraceParent {}

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
