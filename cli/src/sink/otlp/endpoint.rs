//! [`Endpoints`]: the addresses that signals are sent to.

use std::{fmt, time::Duration};

use super::variables::Variables;
use crate::error::Error;

/// The three kinds of signals, each of which has an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalKind {
    Traces,
    Logs,
    Metrics,
}

impl SignalKind {
    pub(super) const ALL: [Self; 3] = [Self::Traces, Self::Logs, Self::Metrics];

    /// The field of a request with the signals.
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Traces => "resourceSpans",
            Self::Logs => "resourceLogs",
            Self::Metrics => "resourceMetrics",
        }
    }

    /// The field of a scope with the signals.
    pub(super) fn list(self) -> &'static str {
        match self {
            Self::Traces => "spans",
            Self::Logs => "logRecords",
            Self::Metrics => "metrics",
        }
    }

    /// What is sent, for one and for several.
    pub(super) fn things(self) -> &'static str {
        match self {
            Self::Traces => "span",
            Self::Logs => "log record",
            Self::Metrics => "data point",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Traces => "v1/traces",
            Self::Logs => "v1/logs",
            Self::Metrics => "v1/metrics",
        }
    }

    fn variable(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Logs => "LOGS",
            Self::Metrics => "METRICS",
        }
    }
}

/// The addresses for the kinds of signals.
#[derive(Clone, Debug)]
pub(crate) struct Endpoints([Endpoint; 3]);

/// The address for one kind of signal.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) timeout: Duration,
    pub(super) compresses: bool,
    pub(super) protocol: Protocol,
    /// Whether this kind of signal is sent. Many views of traces take nothing else.
    pub(super) is_on: bool,
}

/// The form of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Protobuf,
    Json,
}

impl Endpoints {
    /// The addresses below `base`, else those of the variables, else the usual port of this machine.
    ///
    /// # Errors
    /// An address or a variable is not supported.
    pub(crate) fn of(variables: &Variables, base: Option<&str>) -> Result<Self, Error> {
        variables.check()?;
        let [traces, logs, metrics] =
            SignalKind::ALL.map(|kind| Endpoint::of(kind, variables, base));
        Ok(Self([traces?, logs?, metrics?]))
    }

    pub(super) fn get(&self, kind: SignalKind) -> &Endpoint {
        let Self([traces, logs, metrics]) = self;
        match kind {
            SignalKind::Traces => traces,
            SignalKind::Logs => logs,
            SignalKind::Metrics => metrics,
        }
    }

    /// The longest time of a request.
    pub(super) fn patience(&self) -> Duration {
        self.0.iter().map(|endpoint| endpoint.timeout).max().unwrap_or_default()
    }
}

impl fmt::Display for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = &self.get(SignalKind::Traces).url;
        f.write_str(url.strip_suffix("/v1/traces").unwrap_or(url))
    }
}

impl Endpoint {
    fn of(kind: SignalKind, variables: &Variables, base: Option<&str>) -> Result<Self, Error> {
        let name = |what: &str| {
            let own = format!("OTEL_EXPORTER_OTLP_{}_{what}", kind.variable());
            let common = format!("OTEL_EXPORTER_OTLP_{what}");
            if variables.get(&own).is_some() { own } else { common }
        };
        let own = variables.get(&format!("OTEL_EXPORTER_OTLP_{}_ENDPOINT", kind.variable()));
        let common = variables.get("OTEL_EXPORTER_OTLP_ENDPOINT");
        let below = |base: &str| {
            check_url(base)?;
            Ok::<_, Error>(format!("{}/{}", base.trim_end_matches('/'), kind.path()))
        };
        let url = match (base, own) {
            (Some(base), _) => below(base)?,
            // The address of one kind of signal is used as it is.
            (None, Some(own)) => check_url(own).map(|()| own.to_owned())?,
            (None, None) => below(common.unwrap_or("http://localhost:4318"))?,
        };
        let refuse = |name: &str, what: &str| Err(Error::WrongUse(format!("{name} is not {what}")));
        let (timeout, compression, protocol) =
            (name("TIMEOUT"), name("COMPRESSION"), name("PROTOCOL"));
        let timeout = match variables.get(&timeout).map(str::parse) {
            None => Duration::from_secs(10),
            Some(Ok(millis)) => Duration::from_millis(millis),
            Some(Err(_)) => return refuse(&timeout, "a number of milliseconds"),
        };
        let compresses = match variables.get(&compression) {
            None | Some("gzip") => true,
            Some("none") => false,
            Some(_) => return refuse(&compression, "gzip or none"),
        };
        let protocol = match variables.get(&protocol) {
            None | Some("http/protobuf") => Protocol::Protobuf,
            Some("http/json") => Protocol::Json,
            Some(_) => return refuse(&protocol, "http/protobuf or http/json"),
        };
        let exporter = format!("OTEL_{}_EXPORTER", kind.variable());
        let is_on = match variables.get(&exporter) {
            None | Some("otlp") => true,
            Some("none") => false,
            Some(_) => return refuse(&exporter, "otlp or none"),
        };
        let headers = variables.pairs(&name("HEADERS"))?;
        Ok(Self { url, headers, timeout, compresses, protocol, is_on })
    }
}

fn check_url(url: &str) -> Result<(), Error> {
    let refuse = |why: String| Err(Error::WrongUse(why));
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return refuse(format!("the address {url} of a collector begins with http:// or https://"));
    }
    let has_host = |uri: ureq::http::Uri| uri.host().is_some_and(|host| !host.is_empty());
    match url.parse().is_ok_and(has_host) {
        true => Ok(()),
        false => refuse(format!("{url} is not an address")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(variables: &Variables, base: Option<&str>) -> [String; 3] {
        let endpoints = Endpoints::of(variables, base).unwrap();
        SignalKind::ALL.map(|kind| endpoints.get(kind).url.clone())
    }

    #[test]
    fn addresses() {
        let none = Variables::default();
        let local =
            ["traces", "logs", "metrics"].map(|name| format!("http://localhost:4318/v1/{name}"));
        assert_eq!(urls(&none, None), local);
        assert_eq!(urls(&none, Some("http://localhost:4318/")), local);
        let variables = Variables::from([
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1/x"),
            ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://b:2/logs"),
        ]);
        let [traces, logs, _] = urls(&variables, None);
        assert_eq!((&*traces, &*logs), ("http://a:1/x/v1/traces", "http://b:2/logs"));
        assert_eq!(urls(&variables, Some("http://localhost:4318")), local);
    }

    #[test]
    fn the_variables_of_a_kind_take_precedence() {
        let variables = Variables::from([
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%3Db"),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "api-key=c"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
            ("OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "none"),
            ("OTEL_LOGS_EXPORTER", "none"),
        ]);
        let endpoints = Endpoints::of(&variables, None).unwrap();
        let [traces, logs, metrics] = SignalKind::ALL.map(|kind| endpoints.get(kind));
        assert_eq!(traces.headers, [("api-key".to_owned(), "c".to_owned())]);
        assert_eq!(logs.headers, [("api-key".to_owned(), "a=b".to_owned())]);
        assert_eq!(logs.timeout, Duration::from_millis(250));
        assert!(logs.compresses && !metrics.compresses);
        assert!(traces.is_on && metrics.is_on && !logs.is_on);
    }

    #[test]
    fn what_is_not_supported_is_refused() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "key"),
            ("OTEL_TRACES_EXPORTER", "console"),
        ] {
            assert!(Endpoints::of(&Variables::from([(name, value)]), None).is_err(), "{name}");
        }
    }
}
