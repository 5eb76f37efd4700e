//! [`Exporter`]: serves the metrics and the health of a running program.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use axum::{
    Router,
    http::{StatusCode, header::CONTENT_TYPE},
    routing::get,
};
use foldline_cli::shared::version;
use tokio::runtime::Builder;

use crate::{error::Error, metric::Family};

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

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
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
