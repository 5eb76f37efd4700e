//! What a running program reports: [`Exporter`] serves metrics and health; [`Heartbeat`] is the message of a shipper.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use axum::{
    Router,
    http::{StatusCode, header::CONTENT_TYPE},
    routing::get,
};
use foldline_cli::shared::version;
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;

use crate::{
    error::{Error, locked},
    metric::Family,
};

/// How long the program may do nothing before it counts as stuck. A commit may take a while.
const STUCK: Duration = Duration::from_secs(120);

/// Serves `GET /metrics` for Prometheus, `GET /healthz` (503 if the program is stuck) and `GET /readyz` (503 unless it
/// can do its work), on a separate thread.
#[derive(Clone)]
pub(super) struct Exporter {
    verb: &'static str,
    state: Arc<Mutex<State>>,
}

/// The last reports of the program.
struct State {
    metrics: String,
    /// When the program last reported that it is not stuck; `None` until it has begun.
    alive: Option<Instant>,
    /// Why the program cannot do its work at present.
    problem: Option<String>,
}

impl Exporter {
    /// Starts to serve; the program is not ready yet.
    pub(super) fn start(address: SocketAddr, verb: &'static str) -> Result<Self, Error> {
        let fail = |error: std::io::Error| {
            Error::WrongUse(format!("cannot listen on {address}: {error}; choose another address"))
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(fail)?;
        let listener = runtime.block_on(tokio::net::TcpListener::bind(address)).map_err(fail)?;
        let state = State {
            metrics: build_info(verb).text(),
            alive: None,
            problem: Some("the brokers have not answered yet".to_owned()),
        };
        let state = Arc::new(Mutex::new(state));
        let [metrics, health, readiness] = [(); 3].map(|()| state.clone());
        let routes = Router::new()
            .route("/metrics", get(async move || answer_metrics(&metrics)))
            .route("/healthz", get(async move || answer_health(&health)))
            .route("/readyz", get(async move || answer_readiness(&readiness)));
        thread::spawn(move || {
            if let Err(error) = runtime.block_on(async { axum::serve(listener, routes).await }) {
                tracing::warn!(%error, "the metrics server stopped");
            }
        });
        Ok(Self { verb, state })
    }

    /// Reports that the program is not stuck, and whether it can do its work, or else why not.
    pub(super) fn report(&self, problem: Option<&str>) {
        let mut state = locked(&self.state);
        (state.problem, state.alive) = (problem.map(str::to_owned), Some(Instant::now()));
    }

    /// Replaces the metrics.
    pub(super) fn publish(&self, families: &[Family]) {
        let text =
            build_info(self.verb).text() + &families.iter().map(Family::text).collect::<String>();
        locked(&self.state).metrics = text;
    }
}

fn build_info(verb: &str) -> Family {
    let labels = [("version", version()), ("verb", verb.to_owned())];
    Family::new("foldline_fleet_build_info", "The version of the program", [(labels, 1.0)])
}

type Answer = (StatusCode, [(axum::http::HeaderName, &'static str); 1], String);

fn answer(status: StatusCode, text: String) -> Answer {
    (status, [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

fn answer_metrics(state: &Mutex<State>) -> Answer {
    answer(StatusCode::OK, locked(state).metrics.clone())
}

fn answer_health(state: &Mutex<State>) -> Answer {
    let idle = locked(state).alive.map(|alive| alive.elapsed());
    match idle.filter(|idle| *idle >= STUCK) {
        None => answer(StatusCode::OK, "ok\n".to_owned()),
        Some(idle) => {
            let text = format!("the program has done nothing for {} seconds\n", idle.as_secs());
            answer(StatusCode::SERVICE_UNAVAILABLE, text)
        }
    }
}

fn answer_readiness(state: &Mutex<State>) -> Answer {
    match &locked(state).problem {
        None => answer(StatusCode::OK, "ok\n".to_owned()),
        Some(problem) => answer(StatusCode::SERVICE_UNAVAILABLE, format!("{problem}\n")),
    }
}

/// The interval at which a shipper reports.
pub(crate) const INTERVAL: Duration = Duration::from_secs(30);

/// The maximum number of positions in a heartbeat at which bytes may be missing.
pub(crate) const HOLES: usize = 100;

/// The report of a shipper, as a message of a compacted topic. The key is the name of the shipper: its machine and its
/// checkpoint. A shipper that no longer reports, and has not ended, has died, or cannot reach the brokers. Times are
/// milliseconds since 1970, by the clock of its machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    /// The machine.
    pub(crate) host: String,
    /// The version of the program.
    pub(crate) version: String,
    /// When this run began.
    pub(crate) started: i64,
    /// When this was sent.
    pub(crate) at: i64,
    /// The run has ended as intended.
    pub(crate) ended: bool,
    /// The number of logs.
    pub(crate) logs: u64,
    /// The number of logs that cannot be read at present.
    pub(crate) unreadable: u64,
    /// Pieces and bytes that this run has sent.
    pub(crate) pieces: u64,
    pub(crate) bytes: u64,
    /// Pieces that the brokers have not acknowledged.
    pub(crate) unacknowledged: u64,
    /// When the brokers last acknowledged a piece in this run.
    pub(crate) acknowledged_at: Option<i64>,
    /// The number of positions at which bytes may be missing, and the first of them.
    pub(crate) hole_count: u64,
    pub(crate) holes: Vec<MissingBytes>,
}

/// A position of a log at which bytes may be missing: they were destroyed before they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct MissingBytes {
    pub(crate) source: String,
    pub(crate) path: String,
    /// `FILE:OFFSET`, as in messages.
    pub(crate) position: String,
    pub(crate) note: String,
}

/// The present time in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    milliseconds(SystemTime::now())
}

/// A time in milliseconds since 1970.
pub(crate) fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
