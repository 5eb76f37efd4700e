//! [`Secrets`]: finds secrets in a text, and gives each a mark.

use std::{borrow::Cow, collections::BTreeMap};

use super::{find::Finder, rules::HOME};

/// The secrets found so far.
#[derive(Clone, Debug)]
pub(super) struct Secrets {
    finder: Finder,
    marks: Marks,
}

/// The marks that replace secrets.
#[derive(Clone, Debug, Default)]
struct Marks {
    /// The number of each secret within its kind.
    numbers: BTreeMap<(&'static str, String), usize>,
    counts: BTreeMap<&'static str, u64>,
}

impl Secrets {
    pub(super) fn new() -> Self {
        Self { finder: Finder::new(), marks: Marks::default() }
    }

    /// The number of replacements of each kind.
    pub(super) fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.marks.counts
    }

    /// The text with a mark in place of each secret; `None` if there is none. Identifiers are not tested for
    /// randomness, because most look random.
    pub(super) fn replace(&mut self, text: &str, is_id: bool) -> Option<String> {
        let Self { finder, marks } = self;
        let hints = finder.hints(text.as_bytes());
        let mut changed = Cow::Borrowed(text);
        finder.each(&mut changed, hints, is_id, |text, kind, ranges| {
            let mut replaced = String::new();
            let mut end = 0;
            for range in ranges {
                let secret = text.get(range.clone()).unwrap_or_default();
                replaced.push_str(text.get(end..range.start).unwrap_or_default());
                replaced.push_str(&marks.mark(kind, secret));
                end = range.end;
            }
            replaced.push_str(text.get(end..).unwrap_or_default());
            *text = Cow::Owned(replaced);
        });
        match changed {
            Cow::Borrowed(_) => None,
            Cow::Owned(changed) => Some(changed),
        }
    }
}

impl Marks {
    /// The mark of a secret: the same secret always has the same mark.
    fn mark(&mut self, kind: &'static str, secret: &str) -> String {
        *self.counts.entry(kind).or_default() += 1;
        if kind == HOME {
            return if secret.starts_with('-') { "-~" } else { "~" }.to_owned();
        }
        let key = (kind, secret.to_owned());
        let known = self.numbers.get(&key).copied();
        let number = known.unwrap_or_else(|| {
            let number = self.numbers.keys().filter(|(other, _)| *other == kind).count() + 1;
            self.numbers.insert(key, number);
            number
        });
        format!("[{kind} {number}]")
    }
}
