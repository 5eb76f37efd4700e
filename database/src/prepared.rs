//! [`RowEmitter`]: turns events into changes of rows; [`RowChanges`]: folds those of a segment. Pure.

use std::{collections::BTreeMap, sync::Arc};

use foldline::{
    processor::{Collect, HeapSize},
    transduce::{Batch, Emitter, Resume},
};
use foldline_domain::{DomainEvent, Located, NormalizedEntry, SessionKey};

use super::fold::{Fold, NewEntry};

/// The approximate memory size of a row without the texts of its entry.
const ROW: usize = size_of::<NewEntry>();

/// Emits the change that each event makes to the rows of its session. It needs no memory: the database knows the
/// sessions and their open entries.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowEmitter;

/// The change that an event makes to the rows of its session.
#[derive(Clone, Debug, PartialEq)]
pub struct RowChange(Located<DomainEvent>);

impl Emitter<Located<DomainEvent>, RowChange> for RowEmitter {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<RowChange> {
        Batch::one(RowChange(event.clone()))
    }
}

impl Resume for RowEmitter {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

/// The changes of a segment, folded: a call and its result become one row.
///
/// All work that needs no database happens here and in [`into_rows`](Self::into_rows): folding, decoding, serializing
/// JSON. So several threads can prepare rows for the writing thread.
#[derive(Debug, Default)]
pub struct RowChanges {
    folds: BTreeMap<SessionKey, Fold<Arc<NormalizedEntry>>>,
    warnings: u64,
    /// The approximate memory size of the rows, updated with each event.
    size: usize,
}

impl Collect for RowChanges {
    type Item = RowChange;

    fn add(&mut self, RowChange(event): RowChange) {
        self.warnings += u64::from(matches!(event.item, DomainEvent::Warning(_)));
        self.size = self.size.saturating_add(event.item.heap_size() + ROW);
        self.folds.entry(event.session).or_default().apply(event);
    }

    fn size(&self) -> usize {
        self.size
    }
}

impl RowChanges {
    /// The rows, ready to be written.
    pub fn into_rows(self) -> Rows {
        let Self { folds, warnings, size } = self;
        let parts = folds.into_iter().map(|(session, fold)| (session, fold.into_rows())).collect();
        Rows { parts, warnings, size }
    }
}

/// The rows of a segment: what a database commits.
#[derive(Debug, Default)]
pub struct Rows {
    /// The changes to each session.
    pub(crate) parts: Vec<(SessionKey, Fold)>,
    /// The number of warnings.
    pub(crate) warnings: u64,
    size: usize,
}

impl Rows {
    /// Adds the rows of the next segment of the same source. Its changes to entries of this segment are applied
    /// here, so that the database need not write their rows and indexed words twice.
    pub fn append(&mut self, next: Self) {
        let Self { mut parts, warnings, size } = next;
        for (session, part) in &mut parts {
            if let Some((_, last)) = self.parts.iter_mut().rev().find(|(of, _)| of == session) {
                last.take_changes(part);
            }
        }
        self.parts.extend(parts);
        self.warnings += warnings;
        self.size = self.size.saturating_add(size);
    }

    /// The greatest offset of a new entry.
    pub(crate) fn max_offset(&self) -> Option<u64> {
        let entries = self.parts.iter().flat_map(|(_, part)| &part.entries);
        entries.map(|entry| entry.position.offset).max()
    }

    /// The approximate memory size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl<'e> FromIterator<&'e Located<DomainEvent>> for Rows {
    fn from_iter<I: IntoIterator<Item = &'e Located<DomainEvent>>>(events: I) -> Self {
        let mut changes = RowChanges::default();
        events.into_iter().for_each(|event| changes.add(RowChange(event.clone())));
        changes.into_rows()
    }
}
