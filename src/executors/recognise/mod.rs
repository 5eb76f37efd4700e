//! Telling the formats apart: [`recognise`] by one record, [`Recogniser`] by the first records of a
//! log.
//!
//! A record narrows the set of formats that it may belong to; one that could stand in any log
//! leaves the set as it is. So a log whose beginning was cut off is recognised from the records
//! that are left, and weak signs add up.

mod candidates;
mod rules;
mod signatures;

use self::candidates::Candidates;
use super::{
    Format,
    wire::{Object, Record},
};

/// The format that a record belongs to, if the record alone decides it.
///
/// Takes nothing from the record, and looks at its own fields and at most one nested object.
///
/// ```
/// use foldline::executors::{Format, recognise, wire::Object};
///
/// let line = r#"{"type":"thread.started","thread_id":"0199"}"#;
/// assert_eq!(recognise(&Object::parse(line)?), Some(Format::CodexExec));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn recognise(object: &Object<'_>) -> Option<Format> {
    rules::candidates(object).only()
}

/// What is known of the format of a log so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The format is known, and no later record changes it.
    Certain(Format),
    /// The records seen so far could stand in logs of several formats.
    Undecided,
    /// Two records belong to no common format. No later record changes this.
    Contradictory,
}

/// Recognises the format of a log from its first records.
///
/// ```
/// use foldline::executors::{Format, Recogniser, Verdict, wire::Record};
///
/// let mut recogniser = Recogniser::default();
/// for line in ["Reading prompt from stdin...", r#"{"type":"turn.started"}"#] {
///     Record::read(line, |_, record| recogniser.observe(&record));
/// }
/// assert_eq!(recogniser.verdict(), Verdict::Certain(Format::CodexExec));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recogniser {
    left: Candidates,
}

impl Default for Recogniser {
    fn default() -> Self {
        Self { left: Candidates::ALL }
    }
}

impl Recogniser {
    /// Takes note of the next record. What is no object says nothing, and once the verdict is
    /// [`Certain`](Verdict::Certain), nothing else does.
    pub fn observe(&mut self, record: &Record<'_>) {
        if let (Verdict::Undecided, Record::Object(object)) = (self.verdict(), record) {
            self.left = self.left.and(rules::candidates(object));
        }
    }

    /// What is known so far.
    pub fn verdict(&self) -> Verdict {
        match self.left.only() {
            Some(format) => Verdict::Certain(format),
            None if self.left == Candidates::NONE => Verdict::Contradictory,
            None => Verdict::Undecided,
        }
    }

    /// The formats that the log may still have; all of them before the first telling record.
    pub fn candidates(&self) -> impl Iterator<Item = Format> {
        self.left.iter()
    }
}
