//! What a run reports about itself.

use super::super::checkpoint::Shipped;
use super::Shipper;
use crate::{
    heartbeat::{HOLES, Heartbeat, MissingBytes, milliseconds},
    place::Place,
};

impl Shipper<'_> {
    /// Reports the state of this run, if that is due, or if the run has ended.
    pub(super) fn report(&mut self, ended: bool) {
        if !(ended || self.reporting.is_due()) {
            return;
        }
        let (pieces, bytes) = self.outbox.sent();
        let unreadable = self.logs.values().filter(|log| log.trouble.is_some()).count();
        let holes: Vec<_> = self.stored.iter().flat_map(holes).collect();
        let report = Heartbeat {
            ended,
            logs: self.logs.len() as u64,
            unreadable: unreadable as u64,
            pieces,
            bytes,
            unacknowledged: self.outbox.on_its_way(),
            acknowledged_at: self.outbox.last_piece().map(milliseconds),
            hole_count: holes.len() as u64,
            holes: holes.into_iter().take(HOLES).collect(),
            ..Heartbeat::default()
        };
        self.reporting.report(&mut self.outbox, report);
    }
}

/// The positions of a log at which bytes may be missing.
fn holes<'l>((name, log): (&'l String, &'l Shipped)) -> impl Iterator<Item = MissingBytes> + 'l {
    log.holes.iter().map(move |hole| MissingBytes {
        source: name.clone(),
        path: log.path.clone(),
        position: Place { file: hole.file, offset: hole.offset }.to_string(),
        note: hole.note.clone(),
    })
}
