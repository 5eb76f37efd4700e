//! [`PreparedCommit`]: a commit as rows that are ready to be written. Pure.

use std::{collections::BTreeMap, mem};

use super::{
    fold::{Change, Fold, NewEntry, Warnings},
    row::EntryRow,
};
use crate::{
    conversation::{CorrId, DomainEvent, Json, Session, SessionId, Source, Timestamp, TokenUsage},
    ledger::{Commit, SourceFacts, SourceName},
};

/// A [`Commit`] whose events were taken apart into rows.
///
/// Everything that needs no database was done when it was made: folding, decoding, spelling out JSON.
/// So several threads can prepare what the one that writes hands to
/// [`Database::commit_prepared`](super::Database::commit_prepared).
#[derive(Debug)]
pub struct PreparedCommit {
    pub(super) source: SourceName,
    pub(super) facts: SourceFacts,
    pub(super) expected: Option<Source>,
    pub(super) position: Source,
    pub(super) state: Json,
    pub(super) complete: bool,
    pub(super) parts: Vec<Part>,
    /// How many warnings there are in it.
    pub(super) warnings: u64,
}

/// What a stretch says about one session.
#[derive(Debug)]
pub(super) struct Part {
    /// The session that the log names at its beginning.
    pub(super) session: Option<SessionId>,
    /// The facts that it states.
    pub(super) facts: Session,
    /// The earliest and the latest moment that it names.
    pub(super) span: Option<(Timestamp, Timestamp)>,
    pub(super) entries: Vec<NewRow>,
    pub(super) changes: BTreeMap<CorrId, ChangedRow>,
    /// By model, `''` where the log names none, in the order of the log: sums of fractions depend on it.
    pub(super) usage: BTreeMap<String, Vec<TokenUsage>>,
    pub(super) warnings: Warnings,
}

/// An entry that is added.
#[derive(Debug)]
pub(super) struct NewRow {
    pub(super) source: Source,
    pub(super) row: EntryRow,
    pub(super) corr_id: Option<CorrId>,
    pub(super) grows: bool,
}

/// What became of an entry that was there before.
#[derive(Debug)]
pub(super) struct ChangedRow {
    pub(super) source: Source,
    pub(super) whole: Option<EntryRow>,
    pub(super) more: String,
    pub(super) closed: bool,
}

impl From<Commit> for PreparedCommit {
    fn from(commit: Commit) -> Self {
        let Commit { source, facts, expected, events, position, state, complete } = commit;
        let (mut parts, mut warnings) = (Vec::new(), 0);
        let (mut session, mut fold) = (None, Fold::default());
        for event in events {
            match &event.item {
                // Whether the log goes on with another session, or says again which one it is in,
                // only the database knows.
                DomainEvent::Session(news)
                    if news.session_id.is_some() && news.session_id != fold.facts.session_id =>
                {
                    parts.push(Part::new(session, mem::take(&mut fold)));
                    session = news.session_id.clone();
                }
                DomainEvent::Warning(_) => warnings += 1,
                _ => {}
            }
            fold.apply(event);
        }
        parts.push(Part::new(session, fold));
        Self { source, facts, expected, position, state, complete, parts, warnings }
    }
}

impl Part {
    fn new(session: Option<SessionId>, fold: Fold) -> Self {
        let Fold { facts, span, entries, changes, usage: used, warnings, .. } = fold;
        let mut usage = BTreeMap::<_, Vec<_>>::new();
        for (model, tokens) in used {
            usage.entry(model.unwrap_or_default().into_string()).or_default().push(tokens);
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

    /// Whether there is no more in it than changes to what is there.
    pub(super) fn adds_nothing(&self) -> bool {
        let Self { session: _, changes: _, facts, span, entries, usage, warnings } = self;
        let has_rows = !(entries.is_empty() && usage.is_empty() && warnings.is_empty());
        !has_rows && span.is_none() && *facts == Session::default()
    }
}

impl NewRow {
    fn new(entry: NewEntry) -> Self {
        let NewEntry { source, entry, corr_id, grows } = entry;
        Self { source, row: EntryRow::new(entry, corr_id.as_ref()), corr_id, grows }
    }
}

impl ChangedRow {
    fn new(change: Change, corr_id: &CorrId) -> Self {
        let Change { source, whole, more, closed } = change;
        let whole = whole.map(|entry| EntryRow::new(entry, Some(corr_id)));
        Self { source, whole, more: more.into_string(), closed }
    }
}
