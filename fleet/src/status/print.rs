//! Prints the status of a fleet.

use std::{
    fmt::Display,
    io::{self, Write},
};

use foldline_cli::shared::{Clip, Layout, width, write_table};
use foldline_render::terminal::neutralise_line;

use super::{
    Status,
    shippers::{Liveness, ShipperStatus},
    sinks::SinkStatus,
    stored::{DeletedRange, Stored},
};
use crate::exporter::{MissingBytes, now};

/// The number of shippers that are listed even if they need no attention.
const SHIPPERS: usize = 20;

impl Status {
    pub(super) fn print_json(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        foldline_json::write_pretty(&mut out, self)?;
        writeln!(out)?;
        out.flush()
    }

    pub(super) fn print_table(&self) -> io::Result<()> {
        let number = Layout { right: true, clip: Clip::Never };
        let text = Layout { right: false, clip: Clip::Early };
        let layouts = [number, number, number, number, number, number, text];
        let headings =
            ["partition", "logs end", "folded to", "lag", "sources", "events end", "worker"];
        let mut rows: Vec<_> = self
            .partitions
            .iter()
            .map(|row| {
                vec![
                    row.partition.to_string(),
                    shown(row.logs_end),
                    shown(row.folded_to),
                    shown(row.lag),
                    shown(row.sources),
                    shown(row.events_end),
                    row.worker.clone().unwrap_or_default(),
                ]
            })
            .collect();
        let sum = |of: fn(&super::Partition) -> Option<i64>| {
            self.partitions.iter().filter_map(of).sum::<i64>().to_string()
        };
        rows.push(vec![
            "all".to_owned(),
            sum(|row| row.logs_end),
            sum(|row| row.folded_to),
            self.lag.to_string(),
            self.sources.to_string(),
            sum(|row| row.events_end),
            String::new(),
        ]);
        let mut out = io::stdout().lock();
        write_table(&mut out, &headings.map(str::to_owned), &layouts, &rows, width(None))?;
        writeln!(out)?;
        match self.workers.len() {
            0 => writeln!(out, "no worker")?,
            1 => writeln!(out, "1 worker")?,
            count => writeln!(out, "{count} workers")?,
        }
        for worker in &self.workers {
            let partitions: Vec<_> = worker.partitions.iter().map(ToString::to_string).collect();
            let line = format!("  {}: {}", worker.host, partitions.join(", "));
            writeln!(out, "{}", neutralise_line(&line))?;
        }
        for sink in &self.sinks {
            writeln!(out, "{}", neutralise_line(&sink_line(sink)))?;
        }
        self.print_shippers(&mut out)?;
        for DeletedRange { partition, range } in &self.deleted {
            let what = "were deleted before they were folded";
            writeln!(out, "partition {partition} of the logs: {range} {what}")?;
        }
        if let Some(Stored { partitions, deleted, gaps }) = &self.sink {
            let offsets: Vec<_> = partitions.iter().map(|each| shown(each.stored_to)).collect();
            writeln!(out, "events stored to: {}", offsets.join(", "))?;
            for DeletedRange { partition, range } in deleted {
                let what = "were deleted before they were stored";
                writeln!(out, "partition {partition} of the events: {range} {what}")?;
            }
            for gap in gaps {
                let line = format!("{}: not stored: {}", gap.source, gap.note);
                writeln!(out, "{}", neutralise_line(&line))?;
            }
        }
        for gap in &self.gaps {
            let line = format!("{}: {}", gap.source, gap.note);
            writeln!(out, "{}", neutralise_line(&line))?;
        }
        out.flush()
    }
}

impl Status {
    /// Prints the number of shippers, those that need attention, and some of the others.
    fn print_shippers(&self, out: &mut impl Write) -> io::Result<()> {
        let count = |state| self.shippers.iter().filter(|shipper| shipper.state == state).count();
        let [silent, reporting, ended] = Liveness::ALL.map(count);
        writeln!(out, "shippers: {reporting} reporting, {silent} silent, {ended} ended")?;
        if self.shippers.is_empty() {
            return Ok(());
        }
        let number = Layout { right: true, clip: Clip::Never };
        let text = Layout { right: false, clip: Clip::Late };
        let layouts = [text, text, number, number, number, number];
        let headings = ["shipper", "state", "heartbeat", "last sent", "logs", "not sent"];
        let alarming = self.shippers.iter().filter(|shipper| shipper.is_alarming()).count();
        let shown = alarming.max(SHIPPERS);
        let now = now();
        let row = |shipper: &ShipperStatus| {
            let heartbeat = &shipper.heartbeat;
            let sent = heartbeat.acknowledged_at.map(|at| age((now - at).max(0) as f64 / 1000.0));
            vec![
                neutralise_line(&shipper.name).into_owned(),
                shipper.state.name().to_owned(),
                age(shipper.age),
                sent.unwrap_or_else(|| "-".to_owned()),
                heartbeat.logs.to_string(),
                heartbeat.unacknowledged.to_string(),
            ]
        };
        let mut sorted: Vec<_> = self.shippers.iter().collect();
        sorted.sort_by_key(|shipper| !shipper.is_alarming());
        let rows: Vec<_> = sorted.iter().take(shown).map(|shipper| row(shipper)).collect();
        write_table(out, &headings.map(str::to_owned), &layouts, &rows, width(None))?;
        if self.shippers.len() > shown {
            writeln!(out, "and {} more (--format json)", self.shippers.len() - shown)?;
        }
        for shipper in &self.shippers {
            if shipper.heartbeat.unreadable > 0 {
                let count = shipper.heartbeat.unreadable;
                let line = format!("{}: {count} logs cannot be read", shipper.name);
                writeln!(out, "{}", neutralise_line(&line))?;
            }
            for hole in &shipper.heartbeat.holes {
                let MissingBytes { source, path, position, note } = hole;
                let line = format!("{source}: bytes may be missing at {position}: {path} {note}");
                writeln!(out, "{}", neutralise_line(&line))?;
            }
        }
        Ok(())
    }
}

fn sink_line(sink: &SinkStatus) -> String {
    let SinkStatus { group, lag, lag_seconds, .. } = sink;
    let behind = lag_seconds.map(|seconds| format!(", {}", age(seconds))).unwrap_or_default();
    format!("sink {group}: {lag} not stored{behind}")
}

/// A duration in its largest unit.
fn age(seconds: f64) -> String {
    match seconds as u64 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// A number, or `-` if it is unknown.
fn shown(number: Option<impl Display>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}
