//! [`Exporter`]: serves metrics of a running program to Prometheus.

use std::{
    fmt::Write,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use axum::{Router, http::header::CONTENT_TYPE, routing::get};
use tokio::runtime::Builder;

use crate::error::Error;

/// Serves the latest published metrics at `GET /metrics`, on a separate thread.
pub(super) struct Exporter {
    text: Arc<Mutex<String>>,
}

impl Exporter {
    pub(super) fn start(address: SocketAddr) -> Result<Self, Error> {
        let fail = |error: std::io::Error| {
            Error::WrongUse(format!("cannot listen on {address}: {error}; choose another address"))
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(fail)?;
        let listener = runtime.block_on(tokio::net::TcpListener::bind(address)).map_err(fail)?;
        let text = Arc::<Mutex<String>>::default();
        let published = text.clone();
        let answer = move || {
            let text = published.lock().unwrap_or_else(PoisonError::into_inner).clone();
            async { ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text) }
        };
        let routes = Router::new().route("/metrics", get(answer));
        thread::spawn(move || {
            if let Err(error) = runtime.block_on(async { axum::serve(listener, routes).await }) {
                tracing::warn!(%error, "the metrics server stopped");
            }
        });
        Ok(Self { text })
    }

    pub(super) fn publish(&self, families: &[Family]) {
        let text = families.iter().map(Family::text).collect();
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

/// A metric and its values, in the text format of Prometheus.
pub(super) struct Family {
    name: &'static str,
    help: &'static str,
    /// Counters have names that end in `_total`.
    values: Vec<(Option<i32>, f64)>,
}

impl Family {
    /// A single value.
    pub(super) fn one(name: &'static str, help: &'static str, value: f64) -> Self {
        Self { name, help, values: vec![(None, value)] }
    }

    /// One value per partition.
    pub(super) fn by_partition(
        name: &'static str,
        help: &'static str,
        values: impl IntoIterator<Item = (i32, f64)>,
    ) -> Self {
        let values = values.into_iter().map(|(partition, value)| (Some(partition), value));
        Self { name, help, values: values.collect() }
    }

    fn text(&self) -> String {
        let Self { name, help, values } = self;
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        let mut text = format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (partition, value) in values {
            // Writing to a string does not fail.
            let _ = match partition {
                Some(partition) => writeln!(text, "{name}{{partition=\"{partition}\"}} {value}"),
                None => writeln!(text, "{name} {value}"),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_prometheus_reads_them() {
        let family = Family::by_partition("foldline_lag", "What waits", [(0, 1.0), (3, 0.5)]);
        assert_eq!(
            family.text(),
            "# HELP foldline_lag What waits\n# TYPE foldline_lag gauge\n\
             foldline_lag{partition=\"0\"} 1\nfoldline_lag{partition=\"3\"} 0.5\n"
        );
        let one = Family::one("foldline_commits_total", "Commits", 7.0).text();
        assert!(one.contains("TYPE foldline_commits_total counter"), "{one}");
    }
}
