//! [`Signal`]: a span, a log record or a metric, in the form of OTLP/JSON; its times and attributes.

use foldline_domain::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

use super::trace::{SpanContext, SpanId};

/// A span, a log record, or a metric with one data point: what an [`Otlp`](super::Otlp) emits. A
/// [`Resource`](super::Resource) makes a request of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal(pub(super) SignalData);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum SignalData {
    Span(Box<Span>),
    Log(Box<LogRecord>),
    Metric(Box<Metric>),
}

/// A span of OTLP.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Span {
    #[serde(flatten)]
    pub(super) context: SpanContext,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trace_state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_span_id: Option<SpanId>,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start_time_unix_nano: Moment,
    pub(super) end_time_unix_nano: Moment,
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    pub(super) attributes: Attributes,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) links: Vec<SpanContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<SpanStatus>,
}

/// The kind of a span. An agent runs in one process, and asks a model in another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "u8")]
pub(super) enum SpanKind {
    Internal,
    Client,
}

impl From<SpanKind> for u8 {
    fn from(kind: SpanKind) -> Self {
        match kind {
            SpanKind::Internal => 1,
            SpanKind::Client => 3,
        }
    }
}

/// The status of a span that failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct SpanStatus {
    code: u8,
}

impl SpanStatus {
    pub(super) const ERROR: Self = Self { code: 2 };
}

/// A log record of OTLP. With an event name, it is an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time_unix_nano: Option<Moment>,
    pub(super) severity_number: Severity,
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    pub(super) attributes: Attributes,
    #[serde(flatten)]
    pub(super) of: Option<SpanContext>,
    pub(super) event_name: String,
}

/// The severity of a log record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "u8")]
pub(super) enum Severity {
    Debug,
    Info,
    Warn,
}

impl From<Severity> for u8 {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Debug => 5,
            Severity::Info => 9,
            Severity::Warn => 13,
        }
    }
}

/// A metric of OTLP with one data point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    #[serde(flatten)]
    pub(super) points: Points,
}

/// The data points of a metric, by its type.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Points {
    Histogram(Histogram),
    Sum(Sum),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Histogram {
    pub(super) data_points: [DataPoint; 1],
    pub(super) aggregation_temporality: Temporality,
}

/// A sum that only grows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sum {
    pub(super) data_points: [NumberPoint; 1],
    pub(super) aggregation_temporality: Temporality,
    pub(super) is_monotonic: bool,
}

/// What a data point counts: all since the session began, or what no earlier point has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "u8")]
pub enum Temporality {
    /// What no earlier point of the session has counted.
    Delta,
    /// All since the session began. A point that comes twice counts once.
    #[default]
    Cumulative,
}

impl From<Temporality> for u8 {
    fn from(temporality: Temporality) -> Self {
        match temporality {
            Temporality::Delta => 1,
            Temporality::Cumulative => 2,
        }
    }
}

/// The times of a data point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PointTimes {
    pub(super) start_time_unix_nano: Moment,
    pub(super) time_unix_nano: Moment,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataPoint {
    pub(super) attributes: Attributes,
    #[serde(flatten)]
    pub(super) times: PointTimes,
    #[serde(serialize_with = "as_string")]
    pub(super) count: u64,
    pub(super) sum: f64,
    pub(super) bucket_counts: Vec<BucketCount>,
    pub(super) explicit_bounds: &'static [f64],
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NumberPoint {
    pub(super) attributes: Attributes,
    #[serde(flatten)]
    pub(super) times: PointTimes,
    pub(super) as_double: f64,
}

/// A count, which OTLP/JSON writes as a string.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct BucketCount(#[serde(serialize_with = "as_string")] pub(super) u64);

/// A list of attributes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Attributes(Vec<Attribute>);

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Attribute {
    key: String,
    value: AttributeValue,
}

/// A value. In OTLP/JSON, an object with one field that names its type; an integer is a string.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) enum AttributeValue {
    #[serde(rename = "stringValue")]
    Text(String),
    #[serde(rename = "boolValue")]
    Bool(bool),
    #[serde(rename = "intValue", serialize_with = "as_string")]
    Int(i64),
    #[serde(rename = "doubleValue")]
    Double(f64),
}

impl Attributes {
    /// The same list with one more attribute.
    #[must_use]
    pub(super) fn with(mut self, key: &str, value: impl Into<AttributeValue>) -> Self {
        self.0.push(Attribute { key: key.to_owned(), value: value.into() });
        self
    }

    /// The same list with one more attribute, if its value is known.
    #[must_use]
    pub(super) fn with_known(self, key: &str, value: Option<impl Into<AttributeValue>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Whether there is an attribute of this name.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|attribute| attribute.key == key)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for AttributeValue {
    fn from(is: bool) -> Self {
        Self::Bool(is)
    }
}

impl From<u64> for AttributeValue {
    fn from(count: u64) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<i32> for AttributeValue {
    fn from(number: i32) -> Self {
        Self::Int(number.into())
    }
}

impl From<f64> for AttributeValue {
    fn from(number: f64) -> Self {
        Self::Double(number)
    }
}

/// A 64-bit integer as OTLP/JSON writes it.
pub(super) fn as_string<S: Serializer>(
    number: &impl std::fmt::Display,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

/// Nanoseconds since 1970. OTLP has no time before, and none after the year 2554.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

impl Moment {
    /// The moment of a timestamp, if OTLP can express it.
    pub(super) fn of(at: Timestamp) -> Option<Self> {
        u64::try_from(at.as_millis()).ok()?.checked_mul(1_000_000).map(Self)
    }

    /// The moment a number of milliseconds later.
    pub(super) fn after(self, millis: u64) -> Option<Self> {
        self.0.checked_add(millis.checked_mul(1_000_000)?).map(Self)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// The times of a session, a turn or a sub-agent: those that its events state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Interval(Option<(Timestamp, Timestamp)>);

impl Interval {
    /// Includes a time.
    pub(super) fn include(&mut self, at: Option<Timestamp>) {
        let Some(at) = at.filter(|at| Moment::of(*at).is_some()) else { return };
        let (first, last) = self.0.unwrap_or((at, at));
        self.0 = Some((first.min(at), last.max(at)));
    }

    /// The first time.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.0.map(|(first, _)| first)
    }

    /// The last time.
    pub(super) fn last(&self) -> Option<Timestamp> {
        self.0.map(|(_, last)| last)
    }

    /// The first moment and the last one; `None` if no event states a time.
    pub(super) fn moments(&self) -> Option<(Moment, Moment)> {
        let (first, last) = self.0?;
        Moment::of(first).zip(Moment::of(last))
    }
}
