//! Metrics of a whole fleet.

use std::collections::BTreeSet;

use super::{
    Partition, Status,
    shippers::{Liveness, ShipperStatus},
    sinks::SinkStatus,
};
use crate::metric::{Family, by_partition, one};

impl Status {
    /// The metrics of the fleet.
    pub(super) fn figures(&self) -> Vec<Family> {
        let of = |figure: fn(&Partition) -> Option<i64>| {
            let value = move |row: &Partition| Some((row.partition, figure(row)? as f64));
            self.partitions.iter().filter_map(value).collect::<Vec<_>>()
        };
        // An empty sum of fractions is -0.
        let deleted: u64 = self.deleted.iter().map(|deleted| deleted.range.length()).sum();
        let mut all = vec![
            one("foldline_status_workers", "Workers", self.workers.len() as f64),
            one("foldline_status_sources", "Known sources", self.sources as f64),
            one(
                "foldline_status_held_sources",
                "Sources held back by workers",
                self.gaps.len() as f64,
            ),
            one(
                "foldline_status_deleted_messages",
                "Messages of logs that were deleted before they were folded",
                deleted as f64,
            ),
            by_partition(
                "foldline_status_lag_messages",
                "Pieces of logs that are not folded yet",
                of(|row| row.lag),
            ),
            by_partition("foldline_status_logs_end", "End of the logs", of(|row| row.logs_end)),
            by_partition(
                "foldline_status_events_end",
                "End of the events",
                of(|row| row.events_end),
            ),
        ];
        all.extend(sinks(&self.sinks));
        all.push(one(
            "foldline_status_unstored_partitions",
            "Partitions with events that no sink stores, if there are sinks",
            self.unstored() as f64,
        ));
        all.extend(shippers(&self.shippers));
        all
    }

    /// The number of partitions with events that no sink has, if there is a sink.
    fn unstored(&self) -> usize {
        let stored: BTreeSet<_> = self.sinks.iter().flat_map(SinkStatus::numbers).collect();
        let with_events = self.partitions.iter().filter(|row| row.events_end > Some(0));
        let unstored = with_events.filter(|row| !stored.contains(&row.partition)).count();
        if self.sinks.is_empty() { 0 } else { unstored }
    }
}

fn sinks(sinks: &[SinkStatus]) -> [Family; 2] {
    let messages = sinks.iter().flat_map(|sink| {
        sink.partitions.iter().map(|row| {
            let labels = [("sink", sink.group.clone()), ("partition", row.partition.to_string())];
            (labels, row.lag as f64)
        })
    });
    let seconds =
        sinks.iter().filter_map(|sink| Some(([("sink", sink.group.clone())], sink.lag_seconds?)));
    [
        Family::new(
            "foldline_status_sink_lag_messages",
            "Offsets of events that a sink has not stored yet",
            messages,
        ),
        Family::new(
            "foldline_status_sink_lag_seconds",
            "Age of the oldest event that a sink has not stored yet",
            seconds,
        ),
    ]
}

fn shippers(shippers: &[ShipperStatus]) -> [Family; 5] {
    let states = Liveness::ALL.map(|state| {
        let count = shippers.iter().filter(|shipper| shipper.state == state).count();
        ([("state", state.name().to_owned())], count as f64)
    });
    let of_running = |figure: fn(&ShipperStatus) -> f64| {
        let running = shippers.iter().filter(|shipper| shipper.state != Liveness::Ended);
        running.map(move |shipper| ([("shipper", shipper.name.clone())], figure(shipper)))
    };
    let of_all = |figure: fn(&ShipperStatus) -> u64| -> f64 {
        shippers.iter().map(figure).sum::<u64>() as f64
    };
    let seconds = |milliseconds: i64| milliseconds as f64 / 1000.0;
    let heard = |shipper: &ShipperStatus| shipper.heartbeat.at as f64 / 1000.0;
    let sent = shippers.iter().filter(|shipper| shipper.state != Liveness::Ended);
    let sent = sent.filter_map(|shipper| {
        Some(([("shipper", shipper.name.clone())], seconds(shipper.heartbeat.acknowledged_at?)))
    });
    [
        Family::new("foldline_status_shippers", "Shippers by state", states),
        Family::new(
            "foldline_status_shipper_heartbeat_timestamp_seconds",
            "Time of the last heartbeat of a shipper that has not ended",
            of_running(heard),
        ),
        Family::new(
            "foldline_status_shipper_sent_timestamp_seconds",
            "Time at which the brokers last acknowledged a piece of a shipper that has not ended",
            sent,
        ),
        one(
            "foldline_status_unreadable_logs",
            "Logs that shippers cannot read",
            of_all(|shipper| shipper.heartbeat.unreadable),
        ),
        one(
            "foldline_status_holes",
            "Positions of logs at which bytes may be missing",
            of_all(|shipper| shipper.heartbeat.hole_count),
        ),
    ]
}
