//! [`Fold`]: the rows that a segment of events adds and changes. Pure.
//!
//! A call and its result, or a text and its later parts, are usually in one segment; folding turns each pair
//! into one insertion.

use std::{collections::BTreeMap, sync::Arc};

use foldline_domain::{
    ActiveTime, Activity, Authority, CorrId, DomainEvent, Located, NormalizedEntry,
    NormalizedEntryType, Position, Session, Text, Timestamp, TokenUsage, Warning, WarningKind,
};

use super::entry_row::EntryRow;
use crate::usage::UsedFor;

/// The changes of a segment to one session. Entries become rows after the last event, since until then they may
/// change.
#[derive(Debug)]
pub(crate) struct Fold<E = EntryRow> {
    /// The facts of the segment.
    pub(crate) facts: Session,
    /// The last record of each part of the conversation, which a prompt begins.
    pub(crate) leaves: Vec<NewLeaf>,
    /// Whether a prompt follows the last of them.
    is_prompted: bool,
    /// The earliest and the latest moment in the segment.
    pub(crate) span: Option<(Timestamp, Timestamp)>,
    /// The moments of its events, each later than those before it.
    activity: Vec<Activity>,
    /// What its agent may do without asking: each statement.
    pub(crate) authority: Vec<NewAuthority>,
    /// The added entries, in order.
    pub(crate) entries: Vec<NewEntry<E>>,
    /// Changes to earlier entries.
    pub(crate) changes: BTreeMap<CorrId, Change<E>>,
    /// Tokens, in the order of the log, since sums of fractions depend on it.
    pub(crate) usage: BTreeMap<UsedFor, Vec<TokenUsage>>,
    /// Its warnings.
    pub(crate) warnings: Warnings,
    /// The indices in `entries` of the entries that may still change.
    places: BTreeMap<CorrId, usize>,
}

/// An entry that is added.
#[derive(Debug)]
pub(crate) struct NewEntry<E = EntryRow> {
    pub(crate) position: Position,
    pub(crate) entry: E,
    /// The id by which changes refer to the entry: the id of a call, or of a growing text.
    pub(crate) corr_id: Option<CorrId>,
    /// Whether the entry is still growing at the end of the segment.
    pub(crate) grows: bool,
}

/// What an agent may do from here on.
#[derive(Debug)]
pub(crate) struct NewAuthority {
    pub(crate) position: Position,
    /// The number of entries of the segment before it.
    pub(crate) entries: usize,
    /// The latest moment of the segment before it.
    pub(crate) last: Option<Timestamp>,
    pub(crate) authority: Box<Authority>,
}

/// A record after which the conversation may end.
#[derive(Debug)]
pub(crate) struct NewLeaf {
    pub(crate) record: CorrId,
    /// Whether a prompt is between it and the one before, which the conversation may have ended with, and which stays.
    pub(crate) is_next: bool,
}

/// A change to an earlier entry.
#[derive(Debug)]
pub(crate) struct Change<E = EntryRow> {
    /// The position of the first change in the log.
    pub(crate) position: Position,
    /// The entry as a whole, if it is replaced.
    pub(crate) whole: Option<E>,
    /// The text to append.
    pub(crate) more: Text,
    /// Whether the entry is complete.
    pub(crate) closed: bool,
}

/// Warnings by kind and subject.
#[derive(Debug, Default)]
pub(crate) struct Warnings(BTreeMap<(WarningKind, String), Warned>);

/// Warnings of one kind about one subject.
#[derive(Debug)]
pub(crate) struct Warned {
    pub(crate) count: u64,
    /// The position of the first warning.
    pub(crate) position: Position,
    pub(crate) first: Warning,
}

impl<E> Default for Fold<E> {
    fn default() -> Self {
        Self {
            facts: Session::default(),
            leaves: Vec::new(),
            is_prompted: false,
            span: None,
            activity: Vec::new(),
            authority: Vec::new(),
            entries: Vec::new(),
            changes: BTreeMap::new(),
            usage: BTreeMap::new(),
            warnings: Warnings::default(),
            places: BTreeMap::new(),
        }
    }
}

impl Fold<Arc<NormalizedEntry>> {
    pub(crate) fn apply(&mut self, event: Located<DomainEvent>) {
        let Located { position, item, .. } = event;
        if let DomainEvent::Session(news) = &item
            && let Some(authority) = news.authority.clone()
        {
            let (entries, last) = (self.entries.len(), self.span.map(|(_, last)| last));
            self.authority.push(NewAuthority { position, entries, last, authority });
        }
        if let Some(at) = item.timestamp() {
            let (first, last) = self.span.unwrap_or((at, at));
            if self.span.is_none_or(|(_, last)| at > last) {
                self.activity.extend(Activity::of(&item));
            }
            self.span = Some((first.min(at), last.max(at)));
        }
        match item {
            DomainEvent::Session(news) => {
                news.leaf.iter().for_each(|record| self.end_with(record.clone()));
                self.facts.merge(&news);
            }
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
                let of = UsedFor::stated(message_id, model, timestamp);
                self.usage.entry(of).or_default().push(*usage);
            }
            DomainEvent::Warning(warning) => self.warnings.add(position, *warning),
            DomainEvent::SessionEnded => {}
        }
    }

    fn end_with(&mut self, record: CorrId) {
        let is_next = std::mem::take(&mut self.is_prompted);
        match self.leaves.last_mut() {
            Some(leaf) if !is_next => leaf.record = record,
            _ => self.leaves.push(NewLeaf { record, is_next }),
        }
    }

    fn add(
        &mut self,
        position: Position,
        entry: Arc<NormalizedEntry>,
        corr_id: Option<CorrId>,
        grows: bool,
    ) {
        self.is_prompted |= entry.entry_type == NormalizedEntryType::UserMessage;
        if let Some(corr_id) = &corr_id {
            self.places.insert(corr_id.clone(), self.entries.len());
        }
        self.entries.push(NewEntry { position, entry, corr_id, grows });
    }

    fn change(&mut self, corr_id: CorrId, position: Position) -> &mut Change<Arc<NormalizedEntry>> {
        let none = || Change { position, whole: None, more: Text::default(), closed: false };
        self.changes.entry(corr_id).or_insert_with(none)
    }

    /// Splits the entries into columns.
    pub(crate) fn into_rows(self) -> Fold {
        let Self { facts, leaves, is_prompted, span, activity, authority, .. } = self;
        let Self { entries, changes, usage, warnings, places, .. } = self;
        let entries = entries.into_iter().map(|NewEntry { position, entry, corr_id, grows }| {
            let entry = EntryRow::new(entry, corr_id.as_ref());
            NewEntry { position, entry, corr_id, grows }
        });
        let changes = changes.into_iter().map(|(corr_id, change)| {
            let Change { position, whole, more, closed } = change;
            let whole = whole.map(|entry| EntryRow::new(entry, Some(&corr_id)));
            (corr_id, Change { position, whole, more, closed })
        });
        let (entries, changes) = (entries.collect(), changes.collect());
        Fold {
            facts,
            leaves,
            is_prompted,
            span,
            activity,
            authority,
            entries,
            changes,
            usage,
            warnings,
            places,
        }
    }
}

impl<E> Fold<E> {
    /// The latest of several entries with the same id.
    fn entry_mut(&mut self, corr_id: &CorrId) -> Option<&mut NewEntry<E>> {
        self.entries.get_mut(*self.places.get(corr_id)?)
    }

    /// The active time of the session after the segment.
    pub(crate) fn active(&self, mut before: ActiveTime) -> u64 {
        self.activity.iter().for_each(|activity| before.add(*activity));
        before.millis
    }

    /// Whether the segment only changes existing entries.
    pub(crate) fn adds_nothing(&self) -> bool {
        let Self { facts, span, entries, usage, warnings, .. } = self;
        let has_rows = !(entries.is_empty() && usage.is_empty() && warnings.is_empty());
        !has_rows && span.is_none() && *facts == Session::default()
    }
}

impl Fold {
    /// Applies the changes that the next segment makes to entries of this segment, and removes them there.
    pub(crate) fn take_changes(&mut self, next: &mut Self) {
        next.changes.retain(|corr_id, change| {
            let Some(NewEntry { entry, grows, .. }) = self.entry_mut(corr_id) else { return true };
            match change.whole.take() {
                Some(row) => *entry = row,
                None => entry.content.push_str(&change.more.decode()),
            }
            *grows &= !change.closed;
            false
        });
    }
}

impl Warnings {
    /// Counts a warning.
    pub(crate) fn add(&mut self, position: Position, warning: Warning) {
        let key = (warning.kind, warning.subject.clone().unwrap_or_default());
        let first = || Warned { count: 0, position, first: warning };
        self.0.entry(key).or_insert_with(first).count += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (WarningKind, &str, &Warned)> {
        self.0.iter().map(|((kind, subject), warned)| (*kind, subject.as_str(), warned))
    }
}
