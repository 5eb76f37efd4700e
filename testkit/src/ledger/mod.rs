//! Law 10: a suite that every [`Ledger`] passes.
//!
//! Write an [`Engine`] for your ledger: how it is opened, how an output is made, how all committed outputs are read
//! back. Then call three functions in your tests:
//!
//! - [`check`] runs fixed scenarios: a source that is read in steps, commits of several sources and several commits
//!   of one, refusals, marks, forgetting.
//! - [`model`] runs any [`operations`] and compares the ledger with a simple model after each of them. It is intended
//!   for a property test.
//! - [`exclusive`] opens two ledgers at once, for engines where that is possible: only one may continue.
//!
//! The ledger is dropped and reopened between operations, as if the process had been killed there: once after every
//! operation, and once at each single position.
//!
//! ```
//! use std::{cell::RefCell, collections::BTreeMap, convert::Infallible, rc::Rc};
//!
//! use foldline::ledger::{Checkpoint, Commit, CommitError, Ledger, Mark, SourceName};
//! use foldline_domain::{Json, Position};
//! use foldline_testkit::ledger::{self, Engine};
//! use proptest::test_runner::TestRunner;
//!
//! /// What would be on a disk.
//! #[derive(Clone, Default)]
//! struct Stored {
//!     checkpoints: BTreeMap<SourceName, Checkpoint>,
//!     outputs: BTreeMap<SourceName, Vec<String>>,
//!     marks: BTreeMap<String, Json>,
//! }
//!
//! struct Memory(Rc<RefCell<Stored>>);
//!
//! impl Ledger for Memory {
//!     type Output = Vec<String>;
//!     type Receipt = ();
//!     type Error = Infallible;
//!
//!     fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, Infallible> {
//!         Ok(self.0.borrow().checkpoints.get(source).cloned())
//!     }
//!
//!     fn commit(
//!         &mut self,
//!         commits: &[Commit<Vec<String>>],
//!         beside: &[Mark],
//!     ) -> Result<(), CommitError<Infallible>> {
//!         let mut next = self.0.borrow().clone();
//!         for Commit { source, expected, checkpoint, output } in commits {
//!             let stored = next.checkpoints.get(source).map(|stored| stored.position);
//!             if stored != *expected {
//!                 let (source_name, expected) = (source.clone(), *expected);
//!                 return Err(CommitError::Moved { source_name, expected, stored });
//!             }
//!             next.checkpoints.insert(source.clone(), checkpoint.clone());
//!             next.outputs.entry(source.clone()).or_default().extend(output.iter().cloned());
//!         }
//!         next.marks.extend(beside.iter().map(|mark| (mark.name.clone(), mark.state.clone())));
//!         self.0.replace(next);
//!         Ok(())
//!     }
//!
//!     fn mark(&mut self, name: &str) -> Result<Option<Json>, Infallible> {
//!         Ok(self.0.borrow().marks.get(name).cloned())
//!     }
//!
//!     fn forget(&mut self, source: &SourceName) -> Result<bool, Infallible> {
//!         let mut stored = self.0.borrow_mut();
//!         stored.outputs.remove(source);
//!         Ok(stored.checkpoints.remove(source).is_some())
//!     }
//! }
//!
//! #[derive(Default)]
//! struct MemoryEngine(Rc<RefCell<Stored>>);
//!
//! impl Engine for MemoryEngine {
//!     type Ledger = Memory;
//!
//!     fn open(&self) -> Memory {
//!         Memory(Rc::clone(&self.0))
//!     }
//!
//!     fn output(&self, _source: &SourceName, items: &[String]) -> Vec<String> {
//!         items.to_vec()
//!     }
//!
//!     fn committed(&self, _ledger: &mut Memory) -> Vec<String> {
//!         self.0.borrow().outputs.values().flatten().cloned().collect()
//!     }
//! }
//!
//! ledger::check(MemoryEngine::default)?;
//! TestRunner::default().run(&ledger::operations(), |operations| {
//!     Ok(ledger::model(MemoryEngine::default, &operations)?)
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod model;
mod session;

use foldline::{
    laws::{Law, Place, Violation, caught},
    ledger::{Checkpoint, Commit, Ledger, SourceFacts, SourceName},
};
use foldline_domain::{Json, Position};

use self::session::Session;

pub use self::model::{Expectation, Operation, Segment, Stale, operations};

/// Runs any operations on a new engine, and compares the results of [`load`](Ledger::load), [`mark`](Ledger::mark)
/// and [`Engine::committed`] with a model after each operation.
///
/// The ledger is reopened after every operation with an odd number.
///
/// # Errors
/// The first operation after which the ledger differs from the model.
pub fn model<E: Engine>(engine: impl Fn() -> E, operations: &[Operation]) -> Result<(), Violation> {
    run(&engine(), operations, |index| index % 2 == 1)
}

/// Runs every scenario of the suite on empty engines created by `engine`.
///
/// # Errors
/// The first operation after which the ledger differs from the model.
pub fn check<E: Engine>(engine: impl Fn() -> E) -> Result<(), Violation> {
    for scenario in model::scenarios() {
        run(&engine(), &scenario, |_| false)?;
        run(&engine(), &scenario, |_| true)?;
        for place in 0..scenario.len() {
            run(&engine(), &scenario, |index| index == place)?;
        }
    }
    Ok(())
}

/// Runs operations, and reopens the ledger after the operations selected by `reopen_after`.
fn run<E: Engine>(
    engine: &E,
    operations: &[Operation],
    reopen_after: impl Fn(usize) -> bool,
) -> Result<(), Violation> {
    let mut session = Session::new(engine)?;
    for (index, operation) in operations.iter().enumerate() {
        session.apply(index, operation)?;
        if reopen_after(index) {
            session = session.reopen(index)?;
        }
    }
    Ok(())
}

/// Opens two ledgers of one engine at once, which read the same source: after one has committed, the commit of the
/// other is refused and changes nothing. After reopening, the other continues from there.
///
/// Some engines cannot be opened twice: a file is locked, or has one owner by agreement. Do not call this function
/// for them.
///
/// # Errors
/// Both could commit, or the refused commit left a trace.
pub fn exclusive<E: Engine>(engine: impl Fn() -> E) -> Result<(), Violation> {
    let engine = engine();
    let place = Place::Start;
    let fail = |message: &str| Violation::new(Law::Ledger, place, message);
    let source = SourceName::from("source");
    let commit = |items: &[&str], expected, line| {
        let items: Vec<_> = items.iter().map(|&item| item.to_owned()).collect();
        let output = engine.output(&source, &items);
        let position = Position { line, offset: 10 * line };
        let state = Json::from(&serde_json::json!({ "line": line }));
        let facts = SourceFacts { path: "source".to_owned(), ..SourceFacts::default() };
        let checkpoint = Checkpoint { facts, position, state, complete: false };
        Commit { source: source.clone(), expected, checkpoint, output }
    };
    caught(Law::Ledger, place, || {
        let mut one = engine.open();
        if one.commit(&[commit(&["a"], None, 1)], &[]).is_err() {
            return Err(fail("the first commit fails"));
        }
        drop(one);
        let (mut one, mut two) = (engine.open(), engine.open());
        let position = |ledger: &mut E::Ledger| ledger.load(&source).ok()?.map(|it| it.position);
        let committed = position(&mut one);
        if committed.is_none() || position(&mut two) != committed {
            return Err(fail("a reopened ledger does not have the committed data"));
        }
        // For engines that appoint an owner, the last ledger that was opened owns the source.
        if two.commit(&[commit(&["b"], committed, 2)], &[]).is_err() {
            return Err(fail("the commit of the last opened ledger fails"));
        }
        if one.commit(&[commit(&["c"], committed, 3)], &[]).is_ok() {
            return Err(fail("two ledgers committed from the same position"));
        }
        drop((one, two));
        let mut one = engine.open();
        let items = engine.committed(&mut one);
        if items != ["a", "b"] || position(&mut one).map(|it| it.line) != Some(2) {
            return Err(fail("a refused commit left a trace").side("items", &items));
        }
        if one.commit(&[commit(&["d"], Some(Position { line: 2, offset: 20 }), 4)], &[]).is_err() {
            return Err(fail("no ledger can continue after a refused commit"));
        }
        Ok(())
    })
}

/// The storage of a ledger: how the ledger is opened there, and how its outputs are made and read back.
///
/// Its functions may panic if the engine fails, as tests do: the suite turns the panic into a
/// [`Violation`].
pub trait Engine {
    /// The ledger under test.
    type Ledger: Ledger;

    /// Outputs cannot be retracted: after [`forget`](Ledger::forget) the outputs of the source remain. True for a log
    /// of messages, false for a file or a database.
    const KEEPS_OUTPUTS: bool = false;

    /// Opens the ledger like a starting process: the first time, and after the previous process was killed.
    fn open(&self) -> Self::Ledger;

    /// The output of a segment of `source` that contains these items, in this order. Each item is a short line of
    /// text, and no two are equal.
    fn output(&self, source: &SourceName, items: &[String]) -> <Self::Ledger as Ledger>::Output;

    /// All items of all committed outputs: the items of one source in the order of its commits, the sources in any
    /// order.
    fn committed(&self, ledger: &mut Self::Ledger) -> Vec<String>;

    /// Leaves behind the remains of a process that was killed during a commit, such as half an output. Called while
    /// the ledger is closed, before it is opened again. Does nothing by default.
    fn interrupt(&self) {}
}
