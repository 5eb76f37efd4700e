//! [`Signal`]: a span, a log record or a metric, in the form of OTLP/JSON.

use serde::Serialize;

use super::{
    attribute::{Attributes, as_string},
    id::{SpanId, TraceId},
    moment::Moment,
};

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
    pub(super) trace_id: TraceId,
    pub(super) span_id: SpanId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_span_id: Option<SpanId>,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start_time_unix_nano: Moment,
    pub(super) end_time_unix_nano: Moment,
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    pub(super) attributes: Attributes,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) links: Vec<Link>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<SpanStatus>,
}

/// The kind of a span. An agent runs in one process: all spans are internal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "u8")]
pub(super) enum SpanKind {
    Internal,
}

impl From<SpanKind> for u8 {
    fn from(SpanKind::Internal: SpanKind) -> Self {
        1
    }
}

/// A link to a span of another trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Link {
    pub(super) trace_id: TraceId,
    pub(super) span_id: SpanId,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trace_id: Option<TraceId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) span_id: Option<SpanId>,
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

/// A metric of OTLP: a histogram with one data point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) histogram: Histogram,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Histogram {
    pub(super) data_points: [DataPoint; 1],
    pub(super) aggregation_temporality: Temporality,
}

/// Each point is an increment: it counts what no earlier point has counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "u8")]
pub(super) enum Temporality {
    Delta,
}

impl From<Temporality> for u8 {
    fn from(Temporality::Delta: Temporality) -> Self {
        1
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataPoint {
    pub(super) attributes: Attributes,
    pub(super) start_time_unix_nano: Moment,
    pub(super) time_unix_nano: Moment,
    #[serde(serialize_with = "as_string")]
    pub(super) count: u64,
    pub(super) sum: f64,
    pub(super) bucket_counts: Vec<BucketCount>,
    pub(super) explicit_bounds: &'static [f64],
}

/// A count, which OTLP/JSON writes as a string.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct BucketCount(#[serde(serialize_with = "as_string")] pub(super) u64);
