//! [`Report`]: the laws that were checked.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
};

use super::{Law, Place, Violation, caught};

/// The outcome of a law that was not violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Checked,
    /// It was not checked, for this reason.
    Skipped(&'static str),
    /// The inputs contain nothing that the law applies to; this is missing.
    Vacuous(&'static str),
}

/// The laws that were checked. It is displayed as a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The outcome of each law.
    pub outcomes: BTreeMap<Law, Outcome>,
}

impl Report {
    /// Whether a law was checked and was not vacuous.
    pub fn is_checked(&self, law: Law) -> bool {
        self.outcomes.get(&law) == Some(&Outcome::Checked)
    }

    /// The laws that were checked.
    pub fn checked(&self) -> impl Iterator<Item = Law> {
        self.outcomes.keys().copied().filter(|law| self.is_checked(*law))
    }

    /// Checks a law unless it is skipped, and records the outcome; a panic is a violation.
    ///
    /// # Errors
    /// The violation.
    pub fn check(
        &mut self,
        law: Law,
        check: impl FnOnce() -> Result<Outcome, Violation>,
    ) -> Result<(), Violation> {
        if let Entry::Vacant(outcome) = self.outcomes.entry(law) {
            outcome.insert(caught(law, Place::Unknown, check)?);
        }
        Ok(())
    }

    /// Records that laws do not apply.
    pub fn skip(&mut self, laws: &[Law], reason: &'static str) {
        self.outcomes.extend(laws.iter().map(|law| (*law, Outcome::Skipped(reason))));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.outcomes.iter().try_for_each(|(law, outcome)| match outcome {
            Outcome::Checked => writeln!(f, "{law}: checked"),
            Outcome::Skipped(reason) => writeln!(f, "{law}: skipped, {reason}"),
            Outcome::Vacuous(missing) => writeln!(f, "{law}: vacuous, {missing}"),
        })
    }
}
