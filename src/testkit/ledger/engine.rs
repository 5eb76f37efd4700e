//! [`Engine`]: how the suite opens a ledger, and reads back what it holds.

use crate::ledger::{Ledger, SourceName};

/// A place where a ledger keeps its data, how the ledger is opened there, and how its outputs are made
/// and read back.
///
/// Its functions may panic where the engine fails, as tests do: the suite turns that into a
/// [`Violation`](crate::testkit::Violation).
pub trait Engine {
    /// The ledger under test.
    type Ledger: Ledger;

    /// Outputs cannot be taken back: after [`forget`](Ledger::forget) those of the source remain. True
    /// of a log of messages, false of a file or a database.
    const KEEPS_OUTPUTS: bool = false;

    /// Opens the ledger, as a process does that starts: the first time, and after the last one was
    /// killed.
    fn open(&self) -> Self::Ledger;

    /// The output of a segment of `source` that gives these items, in this order. Each item is a short
    /// line of text, and no two are equal.
    fn output(&self, source: &SourceName, items: &[String]) -> <Self::Ledger as Ledger>::Output;

    /// All items of all outputs that count as committed: those of one source in the order of its
    /// commits, the sources in any order.
    fn committed(&self, ledger: &mut Self::Ledger) -> Vec<String>;

    /// Leaves behind what a process leaves that is killed within a commit, such as half an output. It is
    /// called when the ledger is closed, before it is opened again. Nothing, unless you say otherwise.
    fn interrupt(&self) {}
}
