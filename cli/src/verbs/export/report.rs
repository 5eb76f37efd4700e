//! [`Replaced`]: what was replaced in a session, in words.

use std::collections::{BTreeMap, BTreeSet};

use foldline_render::{
    human,
    redact::{Redaction, in_words},
};

use crate::answer::short_id;

/// The largest number of entries that are listed for a kind.
const MOST_ENTRIES: usize = 8;

/// The largest number of replacements that are kept for a session.
pub(super) const MOST: usize = 20_000;

/// What was replaced in one session.
#[derive(Default)]
pub(super) struct Replaced {
    /// The first characters of the id of the session.
    session: String,
    pub(super) counts: BTreeMap<&'static str, u64>,
    replacements: Vec<Redaction>,
}

/// A human-readable summary of the redactions; `None` if there are none.
pub(super) fn note(redacted: &BTreeMap<&'static str, u64>) -> Option<String> {
    let counts: Vec<_> = redacted.iter().map(|(kind, n)| numbered(kind, *n)).collect();
    let counts = (!counts.is_empty()).then(|| counts.join(", "));
    counts.map(|counts| format!("redacted: {counts} (best effort; review before you share it)"))
}

/// `2 home directories`, `2 credentials in a URL`.
fn numbered(kind: &str, n: u64) -> String {
    let words = in_words(kind);
    let end = words.find(" in ").or_else(|| words.find(" with ")).unwrap_or(words.len());
    let (thing, rest) = words.split_at_checked(end).unwrap_or((words, ""));
    match thing.ends_with(['s', 'h']) && n != 1 {
        true => format!("{n} {thing}es{rest}"),
        false => human::number_of(n, thing) + rest,
    }
}

impl Replaced {
    pub(super) fn new<'r>(
        session: Option<&str>,
        counts: impl Iterator<Item = (&'static str, u64)>,
        replacements: impl Iterator<Item = &'r Redaction>,
    ) -> Self {
        Self {
            session: session.map(short_id).unwrap_or_default(),
            counts: counts.collect(),
            replacements: replacements.cloned().collect(),
        }
    }

    /// A line for each kind: its number and its entries.
    pub(super) fn table(&self) -> Vec<String> {
        let mut entries: BTreeMap<&str, BTreeSet<Option<usize>>> = BTreeMap::new();
        for replacement in &self.replacements {
            entries.entry(replacement.kind).or_default().insert(replacement.entry);
        }
        let lines = self.counts.iter().map(|(kind, n)| {
            let places = entries.get(kind).into_iter().flatten().copied();
            let (facts, entries): (Vec<Option<usize>>, Vec<_>) = places.partition(Option::is_none);
            let listed = entries.iter().flatten().take(MOST_ENTRIES).enumerate();
            let listed = listed.map(|(number, entry)| match number {
                0 => self.reference(*entry),
                _ => format!(":{entry}"),
            });
            let mut places: Vec<_> = listed.collect();
            if let Some(more @ 1..) = entries.len().checked_sub(MOST_ENTRIES) {
                places.push(format!("and {more} more"));
            }
            places.extend((!facts.is_empty()).then(|| "facts of the session".to_owned()));
            format!("  {}: {}", numbered(kind, *n), places.join(", "))
        });
        lines.collect()
    }

    /// A line for each replacement: its entry, its kind, and the text around it.
    pub(super) fn preview(&self) -> Vec<String> {
        let on_line = |text: &str| text.replace(char::is_whitespace, " ");
        let lines = self.replacements.iter().map(|replacement| {
            let Redaction { kind, entry, before, hint, after, .. } = replacement;
            let place = entry.map_or("session".to_owned(), |entry| self.reference(entry));
            let text = on_line(&[before, "«", hint, "»", after].concat());
            format!("{place}  {}  {text}", in_words(kind))
        });
        let mut lines: Vec<_> = lines.collect();
        let all: u64 = self.counts.values().sum();
        if let Some(more @ 1..) = all.checked_sub(self.replacements.len() as u64) {
            lines.push(format!("and {more} more"));
        }
        lines
    }

    /// The reference to an entry, as other answers print it.
    fn reference(&self, entry: usize) -> String {
        format!("{}:{entry}", self.session)
    }
}
