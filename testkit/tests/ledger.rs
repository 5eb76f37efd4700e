//! A test of the test suite: for each rule, a ledger that violates only this rule fails.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use foldline::ledger::{Checkpoint, Commit, CommitError, Ledger, Mark, SourceName};
use foldline_domain::Json;
use foldline_testkit::{Law, ledger::*};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    None,
    /// Nothing is compared.
    AcceptsAnything,
    /// Only bytes are compared.
    IgnoresLines,
    /// Commits before the stale one remain.
    CommitsHalf,
    /// Marks are set although the commit fails.
    MarksEarly,
    /// Every commit is compared with what was stored before the first one.
    ComparesWithTheFirst,
    /// The last commit is lost at a restart.
    LosesTheLast,
    /// The journal is older than the output at a restart.
    LosesCheckpoints,
    /// Marks are removed with a forgotten source.
    ForgetsMarks,
    /// Outputs of a forgotten source remain.
    ForgetsHalf,
    /// Uncommitted output is kept when it is opened.
    KeepsHalfOutputs,
    Panics,
}

#[derive(Clone, Default)]
struct Stored {
    checkpoints: BTreeMap<SourceName, Checkpoint>,
    outputs: BTreeMap<SourceName, Vec<String>>,
    marks: BTreeMap<String, Json>,
}

struct Faulty {
    defect: Defect,
    stored: Rc<RefCell<Stored>>,
    before: Stored,
}

impl Ledger for Faulty {
    type Output = Vec<String>;
    type Receipt = ();
    type Error = ();

    fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, ()> {
        Ok(self.stored.borrow().checkpoints.get(source).cloned())
    }

    fn commit(
        &mut self,
        commits: &[Commit<Vec<String>>],
        beside: &[Mark],
    ) -> Result<(), CommitError<()>> {
        assert!(self.defect != Defect::Panics || commits.len() < 2, "a faulty ledger");
        let first = self.stored.borrow().clone();
        let mut next = first.clone();
        let marks = beside.iter().map(|mark| (mark.name.clone(), mark.state.clone()));
        if self.defect == Defect::MarksEarly {
            self.stored.borrow_mut().marks.extend(marks.clone());
        }
        for Commit { source, expected, checkpoint, output } in commits {
            let base = if self.defect == Defect::ComparesWithTheFirst { &first } else { &next };
            let stored = base.checkpoints.get(source).map(|stored| stored.position);
            let same = match self.defect {
                Defect::AcceptsAnything => true,
                Defect::IgnoresLines => stored.map(|it| it.offset) == expected.map(|it| it.offset),
                _ => stored == *expected,
            };
            if !same {
                if self.defect == Defect::CommitsHalf {
                    self.stored.replace(next);
                }
                let (source_name, expected) = (source.clone(), *expected);
                return Err(CommitError::Moved { source_name, expected, stored });
            }
            next.checkpoints.insert(source.clone(), checkpoint.clone());
            next.outputs.entry(source.clone()).or_default().extend(output.iter().cloned());
        }
        next.marks.extend(marks);
        self.before = first;
        self.stored.replace(next);
        Ok(())
    }

    fn mark(&mut self, name: &str) -> Result<Option<Json>, ()> {
        Ok(self.stored.borrow().marks.get(name).cloned())
    }

    fn forget(&mut self, source: &SourceName) -> Result<bool, ()> {
        let mut stored = self.stored.borrow_mut();
        if self.defect == Defect::ForgetsMarks {
            stored.marks.clear();
        }
        if self.defect != Defect::ForgetsHalf {
            stored.outputs.remove(source);
        }
        Ok(stored.checkpoints.remove(source).is_some())
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        match self.defect {
            Defect::LosesTheLast => drop(self.stored.replace(self.before.clone())),
            Defect::LosesCheckpoints => {
                self.stored.borrow_mut().checkpoints = self.before.checkpoints.clone();
            }
            _ => {}
        }
    }
}

struct FaultyEngine(Defect, Rc<RefCell<Stored>>);

impl Engine for FaultyEngine {
    type Ledger = Faulty;

    fn open(&self) -> Faulty {
        let stored = Rc::clone(&self.1);
        let before = stored.borrow().clone();
        Faulty { defect: self.0, stored, before }
    }

    fn output(&self, _source: &SourceName, items: &[String]) -> Vec<String> {
        items.to_vec()
    }

    fn committed(&self, _ledger: &mut Faulty) -> Vec<String> {
        self.1.borrow().outputs.values().flatten().cloned().collect()
    }

    fn interrupt(&self) {
        if self.0 == Defect::KeepsHalfOutputs {
            self.1.borrow_mut().outputs.entry("a".into()).or_default().push("half".to_owned());
        }
    }
}

fn message_for(defect: Defect) -> String {
    let violation = check(|| FaultyEngine(defect, Rc::default())).unwrap_err();
    assert_eq!(violation.law, Law::Ledger);
    violation.message
}

#[test]
fn a_ledger_without_a_defect_passes() {
    assert_eq!(check(|| FaultyEngine(Defect::None, Rc::default())), Ok(()));
    assert_eq!(exclusive(|| FaultyEngine(Defect::None, Rc::default())), Ok(()));
}

#[test]
fn every_defect_is_found() {
    let accepted = "a commit that does not begin where its source stands is accepted";
    assert_eq!(message_for(Defect::AcceptsAnything), accepted);
    assert_eq!(message_for(Defect::IgnoresLines), accepted);
    for (defect, message) in [
        (Defect::CommitsHalf, "the checkpoint of \"a/b c.jsonl\" differs, after a commit"),
        (Defect::MarksEarly, "the mark \"a\" differs, after a commit"),
        (Defect::ComparesWithTheFirst, "a commit that begins where its source stands is refused"),
        (Defect::LosesTheLast, "the checkpoint of \"a\" differs, after it was opened again"),
        (Defect::LosesCheckpoints, "the checkpoint of \"a\" differs, after it was opened again"),
        (Defect::ForgetsMarks, "the mark \"a\" differs, after forgetting \"a\""),
        (Defect::ForgetsHalf, "\"item 1\" is there, and should not be, after forgetting \"a\""),
        (
            Defect::KeepsHalfOutputs,
            "\"half\" is there, and should not be, after it was opened again",
        ),
        (Defect::Panics, "it panics: a faulty ledger"),
    ] {
        let found = message_for(defect);
        assert!(found.starts_with(message), "{defect:?}: {found}");
    }
}

#[test]
fn a_ledger_that_compares_nothing_lets_two_go_on() {
    let violation = exclusive(|| FaultyEngine(Defect::AcceptsAnything, Rc::default()));
    assert_eq!(violation.unwrap_err().message, "two ledgers committed from the same position");
}
