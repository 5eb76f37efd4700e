//! A collector: a server that keeps what it gets, and answers as it is told.

use std::{
    io::{Read, Write},
    net::TcpListener,
    process::Command,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde_json::Value;

/// A request, unzipped. The body is JSON, or the text in a request of protobuf.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
    pub(super) at: Instant,
}

/// The answer to a request with this number.
type Answer = dyn Fn(usize, &Request) -> Response + Send + Sync;

/// A running collector.
pub(crate) struct Collector {
    pub(super) address: String,
    requests: Arc<(Mutex<Vec<Request>>, Condvar)>,
}

/// A success.
pub(super) fn taken() -> Response {
    "{}".into_response()
}

/// A failure.
pub(super) fn status(code: u16) -> Response {
    StatusCode::from_u16(code).unwrap().into_response()
}

impl Collector {
    pub(super) fn start(
        answer: impl Fn(usize, &Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<(Mutex<Vec<Request>>, Condvar)> = Arc::default();
        let (kept, answer): (_, Arc<Answer>) = (Arc::clone(&requests), Arc::new(answer));
        let handle = move |uri: Uri, headers: HeaderMap, body: Bytes| {
            let request = read(&uri, headers, &body);
            let mut requests = kept.0.lock().unwrap();
            let answer = answer(requests.len(), &request);
            requests.push(request);
            kept.1.notify_all();
            drop(requests);
            std::future::ready(answer)
        };
        thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                listener.set_nonblocking(true).unwrap();
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, Router::new().fallback(handle)).await.unwrap();
            });
        });
        Self { address, requests }
    }

    /// A collector that takes all, as JSON, which the command sends it.
    pub(crate) fn of_json(command: &mut Command) -> Self {
        let collector = Self::start(|_, _| taken());
        command.args(["--sink", &format!("otlp={}", collector.address)]);
        command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
        collector
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.0.lock().unwrap().clone()
    }

    /// Waits for requests of which this is true.
    pub(super) fn wait_for(&self, is_enough: impl Fn(&[Request]) -> bool) {
        let (requests, changed) = &*self.requests;
        let deadline = Duration::from_secs(30);
        let waited = changed.wait_timeout_while(requests.lock().unwrap(), deadline, |requests| {
            !is_enough(requests)
        });
        assert!(!waited.unwrap().1.timed_out(), "{:?}", self.requests());
    }
}

fn read(uri: &Uri, headers: HeaderMap, body: &[u8]) -> Request {
    let mut bytes = Vec::new();
    match headers.get("Content-Encoding").map(HeaderValue::as_bytes) {
        Some(b"gzip") => flate2::read::GzDecoder::new(body).read_to_end(&mut bytes).unwrap(),
        None => bytes.write(body).unwrap(),
        Some(other) => panic!("{other:?}"),
    };
    let (path, at) = (uri.path().to_owned(), Instant::now());
    let body = match headers["Content-Type"].as_bytes() {
        b"application/json" => serde_json::from_slice(&bytes).unwrap(),
        b"application/x-protobuf" => String::from_utf8_lossy(&bytes).into_owned().into(),
        other => panic!("{other:?}"),
    };
    Request { path, headers, body, at }
}

/// The spans, log records and metrics of requests, each as text, sorted.
pub(super) fn signals<'b>(bodies: impl Iterator<Item = &'b Value>) -> [Vec<String>; 3] {
    let mut found = [Vec::new(), Vec::new(), Vec::new()];
    let places = [
        ("resourceSpans", "scopeSpans", "spans"),
        ("resourceLogs", "scopeLogs", "logRecords"),
        ("resourceMetrics", "scopeMetrics", "metrics"),
    ];
    for body in bodies {
        for ((resources, scopes, signals), found) in places.iter().zip(&mut found) {
            for resource in body[resources].as_array().into_iter().flatten() {
                for scope in resource[scopes].as_array().into_iter().flatten() {
                    found.extend(scope[signals].as_array().unwrap().iter().map(Value::to_string));
                }
            }
        }
    }
    found.iter_mut().for_each(|found| found.sort());
    found
}

/// The same without the points of tokens and costs, which an ingest counts in its database.
pub(super) fn without_usage([spans, records, mut points]: [Vec<String>; 3]) -> [Vec<String>; 3] {
    points.retain(|point| {
        !["gen_ai.client.token.usage", "foldline.cost"].iter().any(|it| point.contains(it))
    });
    [spans, records, points]
}
