//! States that another version of the program has stored.

use std::sync::Arc;

use foldline::ledger::{CommitError, Ledger};

use super::super::{group::Shared, outgoing::Target, source::Source};
use super::{AGAIN, first_offset};
use crate::{
    error::{Error, report},
    ledger::{Extra, KafkaLedger, KafkaLedgerError},
    marks::mark,
    messages::Extent,
    piece::Piece,
};

/// Removes the states that this program cannot read, and lets the partition be read from its beginning: their sources are
/// folded again. Their checkpoints stay, so that the events that these cover are not sent again.
pub(super) fn rebuild(
    shared: &Shared,
    ledger: &mut KafkaLedger,
    target: &Arc<Target>,
) -> Result<(), Error> {
    let mut removed = Vec::new();
    for source in ledger.sources().chain(ledger.damaged()).cloned().collect::<Vec<_>>() {
        let stored = ledger.load(&source).map_err(Error::from);
        let opened = stored.and_then(|stored| {
            let path = stored.as_ref().map(|stored| stored.facts.path.clone()).unwrap_or_default();
            let piece = Piece { path: &path, ..Piece::empty(source.clone()) };
            Source::open(&shared.registry, target, &piece, stored, Extent::default())
        });
        match opened {
            Ok(_) => {}
            Err(Error::State { .. } | Error::KafkaLedger(KafkaLedgerError::Damaged { .. })) => {
                removed.push(source);
            }
            Err(error) => return Err(error),
        }
    }
    if removed.is_empty() {
        return Ok(());
    }
    let (partition, count) = (target.partition, removed.len());
    report(&format!(
        "partition {partition}: {count} states cannot be read; their sources are folded again from the beginning"
    ));
    let again = mark(AGAIN, &first_offset(shared, partition)?)?;
    let extra = Extra { removed: &removed, ..Extra::default() };
    ledger.commit_with(&[], extra, &[again]).map_err(|error| match error {
        CommitError::Moved { .. } => Error::KafkaLedger(KafkaLedgerError::Fenced),
        CommitError::Failed(error) => Error::KafkaLedger(error),
    })
}
