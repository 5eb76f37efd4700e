//! [`Tally`]: what was replaced, and in which entries.

use std::{collections::BTreeMap, mem};

use foldline_domain::{CorrId, DomainEvent};

use super::find::Secret;

/// A replaced secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Its kind, as in marks.
    pub kind: &'static str,
    /// The index of its entry in the conversation; `None` outside entries, such as in facts of the session.
    pub entry: Option<usize>,
    /// The end of the text before it, without secrets: each of their bytes is a `*`.
    pub before: String,
    /// Its first characters, and an ellipsis. Of a home directory, everything except the user name.
    pub hint: String,
    /// The beginning of the text after it, without secrets.
    pub after: String,
}

/// The replacements so far. An entry that is replaced, such as a tool call with its result, counts once.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    counts: BTreeMap<&'static str, u64>,
    /// The largest number of replacements that are kept.
    most: usize,
    kept: BTreeMap<(Option<usize>, usize), Redaction>,
    next: usize,
    /// The number of entries so far.
    entries: usize,
    /// The entries that still grow or await a result, with what was replaced in them.
    open: BTreeMap<CorrId, (usize, BTreeMap<&'static str, u64>)>,
    /// What was replaced in the current event.
    current: Vec<Redaction>,
}

impl Tally {
    /// Keeps that many replacements.
    pub(super) fn keep(&mut self, most: usize) {
        self.most = most;
    }

    /// The number of replacements of each kind.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    /// The kept replacements, in the order of their entries.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Redaction> {
        self.kept.values()
    }

    /// Counts a secret in the current event.
    pub(super) fn add(&mut self, secret: Secret) {
        let cover = secret.cover.start.saturating_sub(secret.whole.start);
        let is_partial = secret.cover != secret.whole;
        let shown = if is_partial { cover } else { 3.min(secret.text.chars().count() / 3) };
        let hint = secret.text.chars().take(shown).chain(['…']).collect();
        let (before, after) = secret.around;
        self.current.push(Redaction { kind: secret.kind, entry: None, before, hint, after });
    }

    /// Counts something that was left out of the current event as a whole.
    pub(super) fn leave_out(&mut self, kind: &'static str) {
        let (before, after) = (String::new(), String::new());
        self.current.push(Redaction { kind, entry: None, before, hint: "…".to_owned(), after });
    }

    /// Ends an event, which was redacted. An event that replaces an entry replaces what was counted there.
    pub(super) fn end(&mut self, event: &DomainEvent) {
        let current = mem::take(&mut self.current);
        let entry = match event {
            DomainEvent::NewEntry { .. } => Some(self.begin(None)),
            DomainEvent::OpenEntry { corr_id, .. } | DomainEvent::NewToolCall { corr_id, .. } => {
                Some(self.begin(Some(corr_id)))
            }
            DomainEvent::GrowEntry { corr_id, .. } => self.open.get(corr_id).map(|open| open.0),
            DomainEvent::CloseEntry { corr_id, .. } => self.replaced(corr_id, true),
            DomainEvent::UpdateToolCall { corr_id, entry } => {
                let is_final = entry.tool().is_none_or(|tool| tool.status.is_final());
                self.replaced(corr_id, is_final)
            }
            _ => None,
        };
        let corr_id = match event {
            DomainEvent::OpenEntry { corr_id, .. }
            | DomainEvent::NewToolCall { corr_id, .. }
            | DomainEvent::UpdateToolCall { corr_id, .. } => Some(corr_id),
            _ => None,
        };
        for replacement in &current {
            *self.counts.entry(replacement.kind).or_default() += 1;
            if let Some((_, counts)) = corr_id.and_then(|corr_id| self.open.get_mut(corr_id)) {
                *counts.entry(replacement.kind).or_default() += 1;
            }
        }
        let room = self.most.saturating_sub(self.kept.len());
        for replacement in current.into_iter().take(room) {
            self.kept.insert((entry, self.next), Redaction { entry, ..replacement });
            self.next += 1;
        }
    }

    /// Begins an entry; returns its index.
    fn begin(&mut self, corr_id: Option<&CorrId>) -> usize {
        let entry = self.entries;
        self.entries += 1;
        if let Some(corr_id) = corr_id {
            self.open.insert(corr_id.clone(), (entry, BTreeMap::new()));
        }
        entry
    }

    /// Removes what was counted in an entry that is replaced; returns its index.
    fn replaced(&mut self, corr_id: &CorrId, is_final: bool) -> Option<usize> {
        let (entry, counted) = match is_final {
            true => self.open.remove(corr_id)?,
            false => {
                let (entry, counted) = self.open.get_mut(corr_id)?;
                (*entry, mem::take(counted))
            }
        };
        for (kind, count) in counted {
            if let Some(total) = self.counts.get_mut(kind) {
                *total = total.saturating_sub(count);
            }
        }
        self.counts.retain(|_, count| *count > 0);
        let of_entry = self.kept.range((Some(entry), 0)..=(Some(entry), usize::MAX));
        let of_entry: Vec<_> = of_entry.map(|(key, _)| *key).collect();
        of_entry.iter().for_each(|key| drop(self.kept.remove(key)));
        Some(entry)
    }
}
