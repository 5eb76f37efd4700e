//! [`Client`]: sends a request, and reads what the collector answers.

use std::{io::Write, time::Duration};

use flate2::{Compression, write::GzEncoder};
use serde::Deserialize;
use ureq::{Agent, Body, http::Response};

use super::endpoint::Endpoint;

/// The most bytes of an answer that are read.
const ANSWER: u64 = 64 << 10;

/// The client of a collector.
pub(super) struct Client(Agent);

/// What the collector answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// It has taken the request, except for some signals.
    Taken { rejected: u64, message: String },
    /// It may take the request later, after this time if it states one.
    Later { after: Option<Duration>, reason: String },
    /// It does not take the request.
    Refused(String),
}

impl Client {
    pub(super) fn new() -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("foldline/", env!("CARGO_PKG_VERSION")));
        #[cfg(feature = "otlp-tls")]
        let config = config.tls_config(tls());
        Self(config.build().new_agent())
    }

    /// Sends a body. `most` limits the time of the request.
    pub(super) fn post(&self, endpoint: &Endpoint, body: &str, most: Duration) -> Answer {
        let mut request = self.0.post(&endpoint.url).content_type("application/json");
        for (name, value) in &endpoint.headers {
            request = request.header(name, value);
        }
        let request = request.config().timeout_global(Some(endpoint.timeout.min(most))).build();
        let sent = match endpoint.compresses {
            true => request.header("Content-Encoding", "gzip").send(&zipped(body)[..]),
            false => request.send(body),
        };
        match sent {
            Ok(response) => read(response),
            Err(error) => match error {
                ureq::Error::Http(_) | ureq::Error::BadUri(_) | ureq::Error::InvalidProxyUrl => {
                    Answer::Refused(error.to_string())
                }
                _ => Answer::Later { after: None, reason: error.to_string() },
            },
        }
    }
}

fn zipped(body: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // A `Vec` takes everything.
    let _ = encoder.write_all(body.as_bytes());
    encoder.finish().unwrap_or_default()
}

fn read(mut response: Response<Body>) -> Answer {
    let status = response.status();
    let reason = format!("HTTP status {status}");
    match status.as_u16() {
        200..=299 => {
            let text = response.body_mut().with_config().limit(ANSWER).read_to_string();
            taken(&text.unwrap_or_default())
        }
        429 | 502 | 503 | 504 => {
            let after = response.headers().get("Retry-After").and_then(|value| value.to_str().ok());
            Answer::Later { after: after.and_then(delay), reason }
        }
        _ => Answer::Refused(reason),
    }
}

/// The time of `Retry-After`: a number of seconds, or a date.
fn delay(value: &str) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(value.trim()).ok()?;
    let rest = date.timestamp().as_second().saturating_sub(jiff::Timestamp::now().as_second());
    Some(Duration::from_secs(rest.try_into().unwrap_or(0)))
}

/// What the body of a success says: signals that were rejected.
fn taken(body: &str) -> Answer {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Taken {
        partial_success: Option<PartialSuccess>,
    }
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct PartialSuccess {
        rejected_spans: Rejected,
        rejected_log_records: Rejected,
        rejected_data_points: Rejected,
        error_message: String,
    }
    /// JSON of protobuf writes 64-bit integers as strings, and readers accept both.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Rejected {
        Number(u64),
        Text(String),
    }
    impl Default for Rejected {
        fn default() -> Self {
            Self::Number(0)
        }
    }
    impl Rejected {
        fn get(&self) -> u64 {
            match self {
                Self::Number(count) => *count,
                Self::Text(text) => text.parse().unwrap_or(0),
            }
        }
    }
    let said = serde_json::from_str::<Taken>(body).unwrap_or_default();
    let said = said.partial_success.unwrap_or_default();
    let counts = [&said.rejected_spans, &said.rejected_log_records, &said.rejected_data_points];
    let rejected = counts.into_iter().map(Rejected::get).sum();
    Answer::Taken { rejected, message: said.error_message }
}

/// TLS with the certificates of the system.
#[cfg(feature = "otlp-tls")]
fn tls() -> ureq::tls::TlsConfig {
    use std::sync::Arc;

    use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

    let found = rustls_native_certs::load_native_certs().certs;
    let certificates: Vec<_> =
        found.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::Specific(Arc::new(certificates)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays() {
        assert_eq!(delay("3"), Some(Duration::from_secs(3)));
        assert_eq!(delay("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let later = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(100);
        let date = later.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        assert!(delay(&date).is_some_and(|delay| delay.as_secs() > 90), "{date}");
        assert_eq!(delay("soon"), None);
    }

    #[test]
    fn what_was_rejected_is_read() {
        let read = |body| match taken(body) {
            Answer::Taken { rejected, message } => (rejected, message),
            other => panic!("{other:?}"),
        };
        assert_eq!(read("{}"), (0, String::new()));
        assert_eq!(read(""), (0, String::new()));
        let partial = r#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#;
        assert_eq!(read(partial), (2, "too old".to_owned()));
        assert_eq!(read(r#"{"partialSuccess":{"rejectedLogRecords":3}}"#).0, 3);
    }
}
