//! [`Poster`]: sends a request, and reads what the collector answers.

use std::{
    io::{self, Write},
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use serde::Deserialize;
use ureq::{Agent, Body, http::Response};

use super::{
    endpoint::{Endpoint, Protocol, SignalKind},
    protobuf,
};
use crate::client;

/// The most bytes of an answer that are read.
const ANSWER: u64 = 64 << 10;

/// The client of a collector.
pub(super) struct Poster(Agent);

/// What the collector answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// It has taken the request, except for some signals.
    Taken { rejected: u64, message: String },
    /// It may take the request later, after this time if it states one.
    Later { after: Option<Duration>, reason: String },
    /// It does not take the request from this client, or at this address.
    Refused(String),
    /// It will never take the request.
    Invalid(String),
}

impl Poster {
    pub(super) fn new() -> Self {
        Self(client::new())
    }

    /// Sends a body. `most` limits the time of the request.
    pub(super) fn post(&self, endpoint: &Endpoint, body: &[u8], most: Duration) -> Answer {
        let mut request = self.0.post(&endpoint.url).content_type(match endpoint.protocol {
            Protocol::Protobuf => "application/x-protobuf",
            Protocol::Json => "application/json",
        });
        for (name, value) in &endpoint.headers {
            request = request.header(name, value);
        }
        let request = request.config().timeout_global(Some(endpoint.timeout.min(most))).build();
        let sent = match endpoint.compresses {
            true => request.header("Content-Encoding", "gzip").send(body),
            false => request.send(body),
        };
        match sent {
            Ok(response) => read(response, endpoint.protocol),
            Err(error) => match error {
                ureq::Error::Http(_) | ureq::Error::BadUri(_) | ureq::Error::InvalidProxyUrl => {
                    Answer::Refused(error.to_string())
                }
                _ => Answer::Later { after: None, reason: error.to_string() },
            },
        }
    }
}

/// The body of a request as the endpoint gets it.
///
/// # Errors
/// It cannot be written in this form.
pub(super) fn encoded(kind: SignalKind, json: String, endpoint: &Endpoint) -> io::Result<Vec<u8>> {
    let body = match endpoint.protocol {
        Protocol::Json => json.into_bytes(),
        Protocol::Protobuf => protobuf::request(kind, &json)
            .ok_or_else(|| io::Error::other("it cannot be written as protobuf"))?,
    };
    if !endpoint.compresses {
        return Ok(body);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&body)?;
    encoder.finish()
}

fn read(mut response: Response<Body>, protocol: Protocol) -> Answer {
    let status = response.status();
    let reason = format!("HTTP status {status}");
    match status.as_u16() {
        200..=299 => {
            // A success is a success, also if the rest of the answer does not arrive.
            let body = response.body_mut().with_config().limit(ANSWER).read_to_vec();
            let body = body.unwrap_or_default();
            let (rejected, message) = match protocol {
                Protocol::Protobuf => protobuf::rejected(&body),
                Protocol::Json => rejected(&body),
            };
            Answer::Taken { rejected, message }
        }
        429 | 502 | 503 | 504 => {
            let after = response.headers().get("Retry-After").and_then(|value| value.to_str().ok());
            Answer::Later { after: after.and_then(delay), reason }
        }
        400 | 413 | 422 => Answer::Invalid(reason),
        _ => Answer::Refused(reason),
    }
}

/// The time of `Retry-After`: a number of seconds, or a date; at most a day.
fn delay(value: &str) -> Option<Duration> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    if let Ok(seconds) = value.trim().parse() {
        return Some(Duration::from_secs(seconds).min(DAY));
    }
    let date = jiff::fmt::rfc2822::parse(value.trim()).ok()?;
    let rest = date.timestamp().as_second().saturating_sub(jiff::Timestamp::now().as_second());
    Some(Duration::from_secs(rest.try_into().unwrap_or(0)).min(DAY))
}

/// The signals that the body of a success says to be rejected, and why.
fn rejected(body: &[u8]) -> (u64, String) {
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
    let said = serde_json::from_slice::<Taken>(body).unwrap_or_default();
    let said = said.partial_success.unwrap_or_default();
    let counts = [&said.rejected_spans, &said.rejected_log_records, &said.rejected_data_points];
    (counts.into_iter().map(Rejected::get).sum(), said.error_message)
}

/// The kind of a line: each begins with the field of its signals.
pub(super) fn kind_of(line: &str) -> Option<SignalKind> {
    SignalKind::ALL.into_iter().find(|kind| inner(line, *kind).is_some())
}

/// One request with the signals of all lines, which are of one kind. Those of one resource and scope follow each other
/// in one list.
pub(super) fn joined<'l>(kind: SignalKind, lines: impl Iterator<Item = &'l str>) -> String {
    let mut body = format!("{{\"{}\":[", kind.field());
    let mut last: Option<(&str, &str)> = None;
    for (before, signal, after) in lines.filter_map(|line| parts(inner(line, kind)?, kind)) {
        match last {
            Some(last) if last == (before, after) => body.push(','),
            Some((_, after)) => body.extend([after, ",", before]),
            None => body.push_str(before),
        }
        body.push_str(signal);
        last = Some((before, after));
    }
    let (_, after) = last.unwrap_or_default();
    body + after + "]}"
}

/// What is before the signal of a line, the signal, and what is after it.
fn parts(inner: &str, kind: SignalKind) -> Option<(&str, &str, &str)> {
    // Within a text, the quotes would have backslashes.
    let list = format!("\"{}\":[", kind.list());
    let (begin, end) = (inner.find(&list)? + list.len(), inner.rfind("],\"schemaUrl\"")?);
    Some((inner.get(..begin)?, inner.get(begin..end)?, inner.get(end..)?))
}

/// The elements of the list that a line consists of.
fn inner(line: &str, kind: SignalKind) -> Option<&str> {
    let list = line.strip_prefix("{\"")?.strip_prefix(kind.field())?;
    list.strip_prefix("\":[")?.strip_suffix("]}")
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
        assert_eq!(delay("18446744073709551615"), Some(Duration::from_secs(86_400)));
        assert_eq!(delay("soon"), None);
    }

    #[test]
    fn what_was_rejected_is_read() {
        let read = |body: &str| rejected(body.as_bytes());
        assert_eq!(read("{}"), (0, String::new()));
        assert_eq!(read(""), (0, String::new()));
        let partial = r#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#;
        assert_eq!(read(partial), (2, "too old".to_owned()));
        assert_eq!(read(r#"{"partialSuccess":{"rejectedLogRecords":3}}"#).0, 3);
    }

    #[test]
    fn lines_are_joined() {
        let line = |resource: &str, record: &str| {
            format!(
                r#"{{"resourceLogs":[{{"resource":{resource},"scopeLogs":[{{"scope":1,"logRecords":[{record}],"schemaUrl":"u"}}]}}]}}"#
            )
        };
        let lines = [line("0", r#"{"a":"]}"}"#), line("0", "1"), line("2", "[3]")];
        assert!(lines.iter().all(|line| kind_of(line) == Some(SignalKind::Logs)));
        let body = joined(SignalKind::Logs, lines.iter().map(String::as_str));
        let first = line("0", r#"{"a":"]}"},1"#);
        let second = line("2", "[3]");
        let second = second.strip_prefix(r#"{"resourceLogs":["#).unwrap();
        assert_eq!(body, format!("{},{second}", first.strip_suffix("]}").unwrap()));
        assert_eq!(kind_of("text"), None);
    }
}
