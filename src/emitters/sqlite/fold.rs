//! [`Fold`]: a segment of events as the rows that it adds and changes. Pure.
//!
//! A call and its result, or a text and all its growth, mostly stand in one segment; folded first,
//! each becomes one insertion.

use std::{collections::BTreeMap, sync::Arc};

use crate::conversation::{
    CorrId, DomainEvent, Located, NormalizedEntry, Position, Session, Text, Timestamp, TokenUsage,
    Warning, WarningKind,
};

/// What a segment of events adds to one session.
#[derive(Default)]
pub(super) struct Fold {
    /// The facts that it states.
    pub(super) facts: Session,
    /// The earliest and the latest moment that it names.
    pub(super) span: Option<(Timestamp, Timestamp)>,
    /// The entries that it adds, in order.
    pub(super) entries: Vec<NewEntry>,
    /// What it changes in entries that were there before.
    pub(super) changes: BTreeMap<CorrId, Change>,
    /// Tokens, in the order of the log, since sums of fractions depend on it.
    pub(super) usage: Vec<Used>,
    /// Its warnings.
    pub(super) warnings: Warnings,
    /// Where in `entries` those are that may still change.
    places: BTreeMap<CorrId, usize>,
}

/// Tokens that were used.
pub(super) struct Used {
    pub(super) usage: TokenUsage,
    pub(super) model: Option<Text>,
    pub(super) message_id: Option<Text>,
    pub(super) timestamp: Option<Timestamp>,
}

/// An entry that is added.
pub(super) struct NewEntry {
    pub(super) position: Position,
    pub(super) entry: Arc<NormalizedEntry>,
    /// The id that changes come under: that of a call, or of a text that grows.
    pub(super) corr_id: Option<CorrId>,
    /// It is still growing at the end of the segment.
    pub(super) grows: bool,
}

/// What became of an entry that was there before.
#[derive(Default)]
pub(super) struct Change {
    /// Where in the log the first change stands.
    pub(super) position: Position,
    /// The entry as a whole, if it is replaced.
    pub(super) whole: Option<Arc<NormalizedEntry>>,
    /// What is added at its end.
    pub(super) more: Text,
    /// It grows no more.
    pub(super) closed: bool,
}

/// Warnings by kind and subject.
#[derive(Debug, Default)]
pub(super) struct Warnings(BTreeMap<(WarningKind, String), Warned>);

/// Warnings of one kind about one subject.
#[derive(Debug)]
pub(super) struct Warned {
    pub(super) count: u64,
    /// Where the first one stands.
    pub(super) position: Position,
    pub(super) first: Warning,
}

impl Fold {
    pub(super) fn apply(&mut self, event: Located<DomainEvent>) {
        let Located { position, item, .. } = event;
        if let Some(at) = item.timestamp() {
            self.see(at);
        }
        match item {
            DomainEvent::Session(news) => self.facts.merge(&news),
            DomainEvent::NewEntry { entry } => self.add(position, entry, None, false),
            DomainEvent::OpenEntry { corr_id, entry } => {
                self.add(position, entry, Some(corr_id), true);
            }
            DomainEvent::NewToolCall { corr_id, entry } => {
                self.add(position, entry, Some(corr_id), false);
            }
            DomainEvent::GrowEntry { corr_id, text } => match self.entry_mut(&corr_id) {
                Some(new) => Arc::make_mut(&mut new.entry).content.push(&text),
                None => {
                    let change = self.change(corr_id, position);
                    match &mut change.whole {
                        Some(entry) => Arc::make_mut(entry).content.push(&text),
                        None => change.more.push(&text),
                    }
                }
            },
            DomainEvent::CloseEntry { corr_id, entry } => match self.entry_mut(&corr_id) {
                Some(new) => {
                    new.grows = false;
                    if let Some(entry) = entry {
                        new.entry = entry;
                    }
                }
                None => {
                    let change = self.change(corr_id, position);
                    change.closed = true;
                    change.whole = entry.or(change.whole.take());
                }
            },
            DomainEvent::UpdateToolCall { corr_id, entry } => match self.entry_mut(&corr_id) {
                Some(new) => new.entry = entry,
                None => self.change(corr_id, position).whole = Some(entry),
            },
            DomainEvent::Usage { usage, model, message_id, timestamp } => {
                self.usage.push(Used { usage: *usage, model, message_id, timestamp });
            }
            DomainEvent::Warning(warning) => self.warnings.add(position, *warning),
            DomainEvent::SessionEnded => {}
        }
    }

    fn see(&mut self, at: Timestamp) {
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
    }

    fn add(
        &mut self,
        position: Position,
        entry: Arc<NormalizedEntry>,
        corr_id: Option<CorrId>,
        grows: bool,
    ) {
        if let Some(corr_id) = &corr_id {
            self.places.insert(corr_id.clone(), self.entries.len());
        }
        self.entries.push(NewEntry { position, entry, corr_id, grows });
    }

    fn entry_mut(&mut self, corr_id: &CorrId) -> Option<&mut NewEntry> {
        self.entries.get_mut(*self.places.get(corr_id)?)
    }

    fn change(&mut self, corr_id: CorrId, position: Position) -> &mut Change {
        self.changes.entry(corr_id).or_insert_with(|| Change { position, ..Change::default() })
    }
}

impl Warnings {
    /// Counts a warning.
    pub(super) fn add(&mut self, position: Position, warning: Warning) {
        let key = (warning.kind, warning.subject.clone().unwrap_or_default());
        let first = || Warned { count: 0, position, first: warning };
        self.0.entry(key).or_insert_with(first).count += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (WarningKind, &str, &Warned)> {
        self.0.iter().map(|((kind, subject), warned)| (*kind, subject.as_str(), warned))
    }
}
