//! Prints the status of a fleet.

use std::{
    fmt::Display,
    io::{self, Write},
};

use foldline::{emitters::terminal::neutralise_line, json};
use foldline_cli::shared::{Clip, Layout, width, write_table};

use super::{Status, gap::DeletedRange, stored::Stored};

impl Status {
    pub(super) fn print_json(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        json::write_pretty(&mut out, self)?;
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

/// A number, or `-` if it is unknown.
fn shown(number: Option<impl Display>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}
