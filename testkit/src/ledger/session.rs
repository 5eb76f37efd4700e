//! [`Session`]: an open ledger, and the model of its expected content.

use std::collections::BTreeMap;

use foldline::{
    laws::{Law, Names, Place, Violation, caught, same},
    ledger::{Checkpoint, CommitError, Ledger, SourceFacts, SourceName},
};

use super::{
    Engine,
    model::{Model, Operation, Outcome, Planned, names, source},
};

/// The names of the two sides in a [`Violation`].
const SIDES: Names = ["expected", "the ledger"];

pub(super) struct Session<'e, E: Engine> {
    engine: &'e E,
    ledger: E::Ledger,
    model: Model,
}

impl<'e, E: Engine> Session<'e, E> {
    /// Opens an empty engine.
    pub(super) fn new(engine: &'e E) -> Result<Self, Violation> {
        caught(Law::Ledger, Place::Start, || {
            let ledger = engine.open();
            let mut session = Self { engine, ledger, model: Model::default() };
            session.compare(Place::Start, "it was opened")?;
            Ok(session)
        })
    }

    /// Drops and reopens the ledger.
    pub(super) fn reopen(self, index: usize) -> Result<Self, Violation> {
        let place = Place::Operation(index);
        caught(Law::Ledger, place, || {
            let Self { engine, ledger, model } = self;
            drop(ledger);
            engine.interrupt();
            let mut session = Self { engine, ledger: engine.open(), model };
            session.compare(place, "it was opened again")?;
            Ok(session)
        })
    }

    /// Performs the operation, and compares the ledger with the model.
    pub(super) fn apply(&mut self, index: usize, operation: &Operation) -> Result<(), Violation> {
        let place = Place::Operation(index);
        caught(Law::Ledger, place, || {
            match operation {
                Operation::Commit { segments, marks, stale } => {
                    let planned = self.model.plan(segments, marks, *stale);
                    self.commit(place, planned)?;
                }
                Operation::Forget(number) => self.forget(place, &source(*number))?,
            }
            self.compare(place, &operation.describe())
        })
    }

    fn commit(&mut self, place: Place, planned: Planned) -> Result<(), Violation> {
        let Planned { commits, marks, outcome } = planned;
        let engine = self.engine;
        let commits: Vec<_> = commits
            .into_iter()
            .map(|commit| {
                let source = commit.source.clone();
                commit.map(|items| engine.output(&source, &items))
            })
            .collect();
        let fail = |message| Violation::new(Law::Ledger, place, message);
        match (self.ledger.commit(&commits, &marks), outcome) {
            (Ok(_), Outcome::Committed(next)) => {
                self.model = next;
                Ok(())
            }
            (Ok(_), Outcome::Refused(source, committed)) => {
                let message = "a commit that does not begin where its source stands is accepted";
                Err(fail(message).side("source", &source).side("position", &committed))
            }
            (Err(CommitError::Moved { source_name, stored, .. }), Outcome::Refused(source, at)) => {
                let message = "the refusal names another source or position";
                same(Law::Ledger, SIDES, place, message, &(source, at), &(source_name, stored))
            }
            (Err(CommitError::Moved { source_name, expected, stored }), Outcome::Committed(_)) => {
                let violation = fail("a commit that begins where its source stands is refused");
                let moved = (source_name, expected, stored);
                Err(violation.side("source, expected, stored", &moved))
            }
            (Err(CommitError::Failed(_)), Outcome::Committed(_)) => Err(fail("the commit fails")),
            (Err(CommitError::Failed(_)), Outcome::Refused(..)) => Err(fail(
                "a commit that does not begin at the position of its source fails with another error",
            )),
        }
    }

    fn forget(&mut self, place: Place, name: &SourceName) -> Result<(), Violation> {
        let fail = |message| Violation::new(Law::Ledger, place, message);
        match self.ledger.forget(name) {
            Ok(had) => {
                let expected = self.model.forget(name, E::KEEPS_OUTPUTS);
                let message = "`forget` returns wrongly whether the source existed";
                same(Law::Ledger, SIDES, place, message, &expected, &had)
            }
            // The outputs of one source may be inseparable from the outputs of others.
            Err(_) if self.model.sources.keys().any(|other| other != name) => Ok(()),
            Err(_) => Err(fail("the only source cannot be forgotten")),
        }
    }

    /// Compares the whole content of the ledger with the model.
    fn compare(&mut self, place: Place, after: &str) -> Result<(), Violation> {
        let message = |what: String| format!("{what}, after {after}");
        let fail = |what| Violation::new(Law::Ledger, place, message(what));
        for name in names() {
            let source = SourceName::from(name);
            let Ok(loaded) = self.ledger.load(&source) else {
                return Err(fail(format!("{name:?} cannot be loaded")));
            };
            let (expected, loaded) =
                (self.model.sources.get(&source).cloned(), loaded.map(without_task));
            let differs = message(format!("the checkpoint of {name:?} differs"));
            same(Law::Ledger, SIDES, place, &differs, &expected, &loaded)?;
            let Ok(mark) = self.ledger.mark(name) else {
                return Err(fail(format!("the mark {name:?} cannot be read")));
            };
            let differs = message(format!("the mark {name:?} differs"));
            let expected = self.model.marks.get(name);
            same(Law::Ledger, SIDES, place, &differs, &expected, &mark.as_ref())?;
        }
        let committed = self.committed(&fail)?;
        for (source, expected) in &self.model.items {
            let items = committed.get(source).map_or(&[][..], Vec::as_slice);
            let differs = message(format!("the items of {:?} differ", source.as_str()));
            same(Law::Ledger, SIDES, place, &differs, expected.as_slice(), items)?;
        }
        Ok(())
    }

    /// The items returned by the engine, by their source in the model.
    fn committed(
        &mut self,
        fail: &dyn Fn(String) -> Violation,
    ) -> Result<BTreeMap<SourceName, Vec<String>>, Violation> {
        let owners: BTreeMap<_, _> = self
            .model
            .items
            .iter()
            .flat_map(|(source, items)| items.iter().map(move |item| (item.as_str(), source)))
            .collect();
        let mut committed = BTreeMap::<SourceName, Vec<String>>::new();
        for item in self.engine.committed(&mut self.ledger) {
            let Some(&source) = owners.get(item.as_str()) else {
                return Err(fail(format!("{item:?} is there, and should not be")));
            };
            committed.entry(source.clone()).or_default().push(item);
        }
        Ok(committed)
    }
}

/// Other programs may correct the task of a session, which is not part of a checkpoint.
fn without_task(checkpoint: Checkpoint) -> Checkpoint {
    let facts = SourceFacts { task: None, ..checkpoint.facts };
    Checkpoint { facts, ..checkpoint }
}
