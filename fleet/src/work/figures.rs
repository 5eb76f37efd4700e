//! The metrics of a worker, from the [`Counts`] and the [`Progress`] of its lanes.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    exporter::now,
    metric::{Family, by_partition, one},
};

/// The metrics of a worker: finished and pending work. `ends` are the ends of the partitions of logs.
pub(super) fn figures(
    ended: Counts,
    lanes: &BTreeMap<i32, Progress>,
    ends: &BTreeMap<i32, i64>,
) -> Vec<Family> {
    let mut all = ended;
    lanes.values().for_each(|lane| all.add(lane.counts));
    let lag = lanes.iter().filter_map(|(partition, lane)| {
        let end = *ends.get(partition)?;
        Some((*partition, (end - lane.next.unwrap_or(end)).max(0) as f64))
    });
    let lag: Vec<_> = lag.collect();
    let now = now();
    let lag_seconds = lag.iter().filter_map(|(partition, lag)| {
        let sent_at = lanes.get(partition)?.sent_at?;
        let behind = if *lag > 0.0 { (now - sent_at).max(0) } else { 0 };
        Some((*partition, behind as f64 / 1000.0))
    });
    let lag_seconds: Vec<_> = lag_seconds.collect();
    let of_lanes = |figure: fn(&Progress) -> f64| {
        lanes.iter().map(move |(partition, lane)| (*partition, figure(lane)))
    };
    vec![
        by_partition("foldline_fleet_lag_messages", "Pieces of logs that are not folded yet", lag),
        by_partition(
            "foldline_fleet_lag_seconds",
            "Age of the last piece that was read, if there are more",
            lag_seconds,
        ),
        by_partition(
            "foldline_fleet_sources",
            "Known sources",
            of_lanes(|lane| lane.counts.sources as f64),
        ),
        by_partition(
            "foldline_fleet_open_sources",
            "Sources in memory",
            of_lanes(|lane| lane.open as f64),
        ),
        by_partition(
            "foldline_fleet_restore_seconds",
            "Duration of taking over the partition",
            of_lanes(|lane| lane.counts.restoring.as_secs_f64()),
        ),
        one("foldline_fleet_pieces_total", "Pieces of logs read", all.pieces as f64),
        one("foldline_fleet_bytes_total", "Bytes of logs read", all.bytes as f64),
        one("foldline_fleet_known_total", "Pieces that were already folded", all.known as f64),
        one(
            "foldline_fleet_gaps_total",
            "Pieces that are not folded, because earlier bytes are missing",
            all.gaps as f64,
        ),
        one(
            "foldline_fleet_foreign_total",
            "Messages that are not pieces of logs",
            all.foreign as f64,
        ),
        one(
            "foldline_fleet_deleted_total",
            "Pieces of logs that were deleted before they were folded",
            all.deleted as f64,
        ),
        one("foldline_fleet_commits_total", "Transactions", all.commits as f64),
        one(
            "foldline_fleet_commit_seconds_total",
            "Total duration of the transactions",
            all.committing.as_secs_f64(),
        ),
    ]
}

/// What a lane has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) pieces: u64,
    pub(super) bytes: u64,
    pub(super) known: u64,
    pub(super) gaps: u64,
    pub(super) foreign: u64,
    pub(super) deleted: u64,
    pub(super) commits: u64,
    pub(super) committing: Duration,
    pub(super) restoring: Duration,
    pub(super) sources: usize,
}

/// The progress of a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) counts: Counts,
    /// The number of sources in memory.
    pub(super) open: usize,
    /// The offset of the next message to be folded, once it is known.
    pub(super) next: Option<i64>,
    /// When the last message was sent, in milliseconds since 1970.
    pub(super) sent_at: Option<i64>,
}

impl Counts {
    /// Adds the counts of another lane.
    pub(super) fn add(&mut self, more: Self) {
        let Self { pieces, bytes, known, gaps, foreign, deleted, .. } = more;
        let Self { commits, committing, restoring, sources, .. } = more;
        self.pieces += pieces;
        self.bytes += bytes;
        self.known += known;
        self.gaps += gaps;
        self.foreign += foreign;
        self.deleted += deleted;
        self.commits += commits;
        self.committing += committing;
        self.restoring += restoring;
        self.sources += sources;
    }
}
