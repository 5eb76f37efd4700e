//! [`RowEmitter`]: events as rows that are ready to be written. Pure.

use std::{collections::BTreeMap, convert::Infallible, mem, sync::Arc};

use super::fold::{Fold, NewEntry};
use crate::{
    conversation::{DomainEvent, Located, NormalizedEntry, SessionKey},
    transduce::{Batch, Emitter, Gather, Resume},
};

/// About what a row takes in memory beyond the texts of its entry.
const ROW: usize = size_of::<NewEntry>();

/// Folds events into rows, a segment at a time.
///
/// Everything that needs no database is done here: folding, decoding, spelling out JSON. So several threads
/// can make what the one that writes commits.
#[derive(Default)]
pub struct RowEmitter {
    folds: BTreeMap<SessionKey, Fold<Arc<NormalizedEntry>>>,
    warnings: u64,
    /// About how much memory the rows take, counted as the events come.
    size: usize,
}

/// The rows of a segment: what [`Database`](super::Database) commits.
#[derive(Debug, Default)]
pub struct Rows {
    /// What it says about each session.
    pub(super) parts: Vec<(SessionKey, Fold)>,
    /// How many warnings there are in it.
    pub(super) warnings: u64,
    size: usize,
}

impl Rows {
    /// Adds those of the next segment of the same source. What it changes in the entries just before it is
    /// changed here: in the database it would be a row that is written twice, with its words.
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

    /// About how much memory they take, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl Emitter<Located<DomainEvent>, Infallible> for RowEmitter {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        self.warnings += u64::from(matches!(event.item, DomainEvent::Warning(_)));
        self.size = self.size.saturating_add(event.item.size() + ROW);
        self.folds.entry(event.session).or_default().apply(event.clone());
        Batch::EMPTY
    }
}

impl Gather for RowEmitter {
    type Segment = Rows;

    fn cut(&mut self) -> Rows {
        let Self { folds, warnings, size } = mem::take(self);
        let parts = folds.into_iter().map(|(session, fold)| (session, fold.into_rows())).collect();
        Rows { parts, warnings, size }
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// At a cut there is nothing to remember: the database knows the sessions and their open entries.
impl Resume for RowEmitter {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

impl<'e> FromIterator<&'e Located<DomainEvent>> for Rows {
    fn from_iter<I: IntoIterator<Item = &'e Located<DomainEvent>>>(events: I) -> Self {
        let mut emitter = RowEmitter::default();
        events.into_iter().for_each(|event| drop(emitter.emit(event)));
        emitter.cut()
    }
}
