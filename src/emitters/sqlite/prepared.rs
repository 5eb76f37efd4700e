//! [`RowEmitter`]: events as rows that are ready to be written. Pure.

use std::{collections::BTreeMap, convert::Infallible, mem};

use super::{
    fold::{Change, Fold, NewEntry, Used, Warnings},
    row::EntryRow,
};
use crate::{
    conversation::{
        CorrId, DomainEvent, Located, Position, Session, SessionKey, Timestamp, TokenUsage,
    },
    transduce::{Batch, Emitter, Gather, Resume},
};

/// About what a row takes in memory beyond the texts of its entry.
const ROW: usize = size_of::<NewRow>();

/// The moment of usage whose time the log does not state. No quarter of an hour begins then.
const NOT_STATED: i64 = -1;

/// Folds events into rows, a segment at a time.
///
/// Everything that needs no database is done here: folding, decoding, spelling out JSON. So several threads
/// can make what the one that writes commits.
#[derive(Default)]
pub struct RowEmitter {
    folds: BTreeMap<SessionKey, Fold>,
    warnings: u64,
    /// About how much memory the rows take, counted as the events come.
    size: usize,
}

/// The rows of a segment: what [`Database`](super::Database) commits.
#[derive(Debug, Default)]
pub struct Rows {
    pub(super) parts: Vec<Part>,
    /// How many warnings there are in it.
    pub(super) warnings: u64,
    size: usize,
}

impl Rows {
    /// Adds those of the next segment of the same source. What it changes in the entries just before it is
    /// changed here: in the database it would be a row that is written twice, with its words.
    pub fn append(&mut self, next: Self) {
        let Self { mut parts, warnings, size } = next;
        for part in &mut parts {
            if let Some(last) = self.parts.iter_mut().rev().find(|it| it.session == part.session) {
                last.change(&mut part.changes);
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
        let parts = folds.into_iter().map(|(session, fold)| Part::new(session, fold)).collect();
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

/// What a segment says about one session.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) session: SessionKey,
    /// The facts that it states.
    pub(super) facts: Session,
    /// The earliest and the latest moment that it names.
    pub(super) span: Option<(Timestamp, Timestamp)>,
    pub(super) entries: Vec<NewRow>,
    pub(super) changes: BTreeMap<CorrId, ChangedRow>,
    /// In the order of the log, since sums of fractions depend on it.
    pub(super) usage: BTreeMap<UsageKey, Vec<TokenUsage>>,
    pub(super) warnings: Warnings,
}

/// What usage is added up by, beside the session.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UsageKey {
    /// `''` where no other log tells of it.
    pub(super) message_id: String,
    /// `''` where the log names none.
    pub(super) model: String,
    /// The quarter of an hour in which they were used, in milliseconds since 1970.
    pub(super) used_at: i64,
}

/// An entry that is added.
#[derive(Debug)]
pub(super) struct NewRow {
    pub(super) position: Position,
    pub(super) row: EntryRow,
    pub(super) corr_id: Option<CorrId>,
    pub(super) grows: bool,
}

/// What became of an entry that was there before.
#[derive(Debug)]
pub(super) struct ChangedRow {
    pub(super) position: Position,
    pub(super) whole: Option<EntryRow>,
    pub(super) more: String,
    pub(super) closed: bool,
}

impl Part {
    fn new(session: SessionKey, fold: Fold) -> Self {
        let Fold { facts, span, entries, changes, usage: used, warnings, .. } = fold;
        let mut usage = BTreeMap::<_, Vec<_>>::new();
        for used in used {
            let (key, tokens) = UsageKey::of(used);
            usage.entry(key).or_default().push(tokens);
        }
        let changes = changes.into_iter().map(|(corr_id, change)| {
            let row = ChangedRow::new(change, &corr_id);
            (corr_id, row)
        });
        Self {
            session,
            facts,
            span,
            entries: entries.into_iter().map(NewRow::new).collect(),
            changes: changes.collect(),
            usage,
            warnings,
        }
    }

    /// Makes those of the changes that are to its own entries.
    fn change(&mut self, changes: &mut BTreeMap<CorrId, ChangedRow>) {
        // Of several entries with one id, changes are to the latest.
        for entry in self.entries.iter_mut().rev() {
            if changes.is_empty() {
                break;
            }
            if let Some(change) = entry.corr_id.as_ref().and_then(|id| changes.remove(id)) {
                entry.change(change);
            }
        }
    }

    /// Whether there is no more in it than changes to what is there.
    pub(super) fn adds_nothing(&self) -> bool {
        let Self { session: _, changes: _, facts, span, entries, usage, warnings } = self;
        let has_rows = !(entries.is_empty() && usage.is_empty() && warnings.is_empty());
        !has_rows && span.is_none() && *facts == Session::default()
    }
}

impl UsageKey {
    fn of(used: Used) -> (Self, TokenUsage) {
        let Used { usage, model, message_id, timestamp } = used;
        let key = Self {
            message_id: message_id.unwrap_or_default().into_string(),
            model: model.unwrap_or_default().into_string(),
            used_at: timestamp.map_or(NOT_STATED, |at| at.quarter_hour().as_millis()),
        };
        (key, usage)
    }
}

impl NewRow {
    fn new(entry: NewEntry) -> Self {
        let NewEntry { position, entry, corr_id, grows } = entry;
        Self { position, row: EntryRow::new(entry, corr_id.as_ref()), corr_id, grows }
    }

    fn change(&mut self, change: ChangedRow) {
        let ChangedRow { position: _, whole, more, closed } = change;
        match whole {
            Some(row) => self.row = row,
            None => self.row.content.push_str(&more),
        }
        self.grows &= !closed;
    }
}

impl ChangedRow {
    fn new(change: Change, corr_id: &CorrId) -> Self {
        let Change { position, whole, more, closed } = change;
        let whole = whole.map(|entry| EntryRow::new(entry, Some(corr_id)));
        Self { position, whole, more: more.into_string(), closed }
    }
}
