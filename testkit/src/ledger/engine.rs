//! [`Engine`]: how the suite opens a ledger and reads its contents.

use foldline::ledger::{Ledger, SourceName};

/// The storage of a ledger: how the ledger is opened there, and how its outputs are made and read back.
///
/// Its functions may panic if the engine fails, as tests do: the suite turns the panic into a
/// [`Violation`](crate::Violation).
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
