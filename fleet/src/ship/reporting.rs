//! [`Reporting`]: heartbeats and metrics of a shipper.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use foldline_cli::shared::version;
use foldline_domain::Digest;

use super::outbox::Outbox;
use crate::{
    exporter::{Exporter, Heartbeat, INTERVAL, now},
    metric::{Family, one},
};

/// The interval at which metrics are published.
const PUBLISH: Duration = Duration::from_secs(1);

/// Where a shipper reports to, and when.
pub(super) struct Reporting {
    topic: String,
    /// The name of the shipper.
    name: String,
    host: String,
    exporter: Option<Exporter>,
    started: i64,
    sent: Option<Instant>,
    published: Option<Instant>,
}

impl Reporting {
    pub(super) fn new(
        topic: String,
        host: &str,
        checkpoint: &Path,
        exporter: Option<Exporter>,
    ) -> Self {
        let digest = Digest::of(checkpoint.to_string_lossy().as_bytes()).to_string();
        let name = format!("{host}/{}", digest.get(..12).unwrap_or(&digest));
        let host = host.to_owned();
        Self { topic, name, host, exporter, started: now(), sent: None, published: None }
    }

    /// Whether a report is due.
    pub(super) fn is_due(&self) -> bool {
        let is_past = |at: Option<Instant>, interval| at.is_none_or(|at| at.elapsed() >= interval);
        is_past(self.sent, INTERVAL)
            || (self.exporter.is_some() && is_past(self.published, PUBLISH))
    }

    /// Sends and publishes a report, whichever is due; the last report is always sent.
    pub(super) fn report(&mut self, outbox: &mut Outbox, report: Heartbeat) {
        let (host, version) = (self.host.clone(), version());
        let report = Heartbeat { host, version, started: self.started, at: now(), ..report };
        if let Some(exporter) = &self.exporter {
            exporter.publish(&figures(&report));
            self.published = Some(Instant::now());
        }
        if report.ended || self.sent.is_none_or(|at| at.elapsed() >= INTERVAL) {
            self.sent = Some(Instant::now());
            match serde_json::to_vec(&report) {
                Ok(json) => outbox.send_heartbeat(&self.topic, &self.name, &json),
                Err(error) => tracing::warn!(%error, "the heartbeat cannot be written"),
            }
        }
    }
}

/// The metrics of a shipper.
fn figures(report: &Heartbeat) -> Vec<Family> {
    let count = |name, help, value: u64| one(name, help, value as f64);
    let acknowledged_at = report.acknowledged_at.unwrap_or_default() as f64 / 1000.0;
    vec![
        count("foldline_ship_logs", "Known logs", report.logs),
        count("foldline_ship_unreadable_logs", "Logs that cannot be read", report.unreadable),
        count("foldline_ship_pieces_total", "Pieces of logs sent", report.pieces),
        count("foldline_ship_bytes_total", "Bytes of logs sent", report.bytes),
        count(
            "foldline_ship_unacknowledged",
            "Messages that the brokers have not acknowledged",
            report.unacknowledged,
        ),
        one(
            "foldline_ship_acknowledged_timestamp_seconds",
            "Time of the last acknowledged piece of this run, 0 if there is none",
            acknowledged_at,
        ),
        count(
            "foldline_ship_holes",
            "Positions of logs at which bytes may be missing",
            report.hole_count,
        ),
    ]
}
