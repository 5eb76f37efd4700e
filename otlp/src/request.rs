//! [`Resource`]: the program that sends, which makes requests of signals.

use serde::Serialize;

use super::{
    convention::SCHEMA_URL,
    signal::{Attributes, LogRecord, Metric, Signal, SignalData, Span},
};

/// The resource of OTLP: the attributes of the program that sends the signals.
///
/// ```
/// use foldline_otlp::Resource;
///
/// let resource = Resource::default().with("service.name", "agents").with("team", "tools");
/// assert!(resource.has("team"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Resource {
    attributes: Attributes,
}

impl Resource {
    /// The same resource with one more attribute.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.attributes = self.attributes.with(key, value);
        self
    }

    /// The same resource with one more attribute, which is a number.
    #[must_use]
    pub fn with_number(mut self, key: &str, value: u64) -> Self {
        self.attributes = self.attributes.with(key, value);
        self
    }

    /// Whether it has this attribute.
    pub fn has(&self, key: &str) -> bool {
        self.attributes.has(key)
    }

    /// The request that exports a signal of this resource.
    pub fn request(&self, signal: Signal) -> Request {
        let (resource, schema_url) = (self.clone(), SCHEMA_URL);
        Request(match signal.0 {
            SignalData::Span(span) => Export::Traces([ResourceSpans {
                resource,
                scope_spans: [ScopeSpans { scope: Scope::THIS, spans: [*span], schema_url }],
            }]),
            SignalData::Log(record) => Export::Logs([ResourceLogs {
                resource,
                scope_logs: [ScopeLogs { scope: Scope::THIS, log_records: [*record], schema_url }],
            }]),
            SignalData::Metric(metric) => Export::Metrics([ResourceMetrics {
                resource,
                scope_metrics: [ScopeMetrics {
                    scope: Scope::THIS,
                    metrics: [*metric],
                    schema_url,
                }],
            }]),
        })
    }
}

/// A request of OTLP, which exports one signal: `ExportTraceServiceRequest`, `ExportLogsServiceRequest` or
/// `ExportMetricsServiceRequest`. Serialised as OTLP/JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Request(Export);

#[derive(Clone, Debug, PartialEq, Serialize)]
enum Export {
    #[serde(rename = "resourceSpans")]
    Traces([ResourceSpans; 1]),
    #[serde(rename = "resourceLogs")]
    Logs([ResourceLogs; 1]),
    #[serde(rename = "resourceMetrics")]
    Metrics([ResourceMetrics; 1]),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans {
    resource: Resource,
    scope_spans: [ScopeSpans; 1],
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ScopeSpans {
    scope: Scope,
    spans: [Span; 1],
    schema_url: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceLogs {
    resource: Resource,
    scope_logs: [ScopeLogs; 1],
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ScopeLogs {
    scope: Scope,
    log_records: [LogRecord; 1],
    schema_url: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceMetrics {
    resource: Resource,
    scope_metrics: [ScopeMetrics; 1],
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ScopeMetrics {
    scope: Scope,
    metrics: [Metric; 1],
    schema_url: &'static str,
}

/// The instrumentation scope: this crate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

impl Scope {
    const THIS: Self = Self { name: "foldline", version: env!("CARGO_PKG_VERSION") };
}
