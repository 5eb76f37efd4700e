//! The laws, one function each.
//!
//! Each law takes its subject and returns `Ok`, or a [`Violation`] with the violated law, the first position where
//! the violation is visible, and both sides of the difference. In a test, `law(..)?` or `.unwrap()` is all that is
//! needed.
//!
//! | Law | applies to |
//! | --- | --- |
//! | 1 [`determinism`] | any reducer and inputs |
//! | 2 [`split_invariance`], [`split_invariance_at`] | any reducer with a serde state, and inputs |
//! | 3 [`chunk_invariance`] | a reducer of records and a log's bytes |
//! | 4 [`balance`] | the events of a whole log |
//! | 5 [`order_of_results`] | a reducer of records, and inputs that include results |
//! | 6 [`totality`] | a reducer of records and any bytes |
//! | 7 [`commuting_diagram`] | an emitter of patches and the events of a log |
//! | 8 [`independence`] | any two emitters and events |
//! | 9 [`dense_indices`] | an emitter of patches and the events of a log |
//! | 10 [`testkit::ledger`](super::ledger) | a ledger |
//! | 11 [`sessions`] | a reducer of records, and two logs with one session each |
//!
//! Three functions check several laws at once and list them in a [`Report`]: [`every`] for an
//! [`Executor`](crate::executors::Executor) and a log; [`emitter`] for any emitter;
//! [`testkit::ledger::check`](super::ledger::check) for a ledger. An emitter with a storable memory also satisfies
//! [`resume`], an emitter that gathers segments satisfies [`gather`].

mod balance;
mod chunks;
mod determinism;
mod emitters;
mod every;
mod indices;
mod patches;
mod plant;
mod report;
mod results;
mod same;
mod sessions;
mod sinks;
mod split;
mod totality;

pub use self::{
    balance::balance,
    chunks::chunk_invariance,
    determinism::determinism,
    emitters::{emitter, gather, gather_and_resume, resume},
    every::{Every, every},
    indices::dense_indices,
    patches::commuting_diagram,
    plant::Dropped,
    report::{Outcome, Report},
    results::{only_end_a_call, order_of_results},
    sessions::sessions,
    sinks::independence,
    split::{Restore, split_invariance, split_invariance_at},
    totality::{Accounts, Reading, reading, totality},
};
use super::violation::{Law, Place, Violation, panicked};
