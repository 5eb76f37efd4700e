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
//! | 11 [`sessions`], [`consumer_sessions`] | a reducer of records, and two logs with one session each; any consumer, and the events of several sessions |
//! | 12 [`pairing`] | an executor and a log with results |
//! | 13 [`unknown_content`] | an executor and a log |
//! | 14 [`spelling`] | an executor and a log |
//! | 15 [`bounded_state`] | an executor and a short log |
//! | 16 [`account`], [`consumer_account`] | an executor and a log; any consumer and events. [`Accounts`] declare what becomes of each field |
//! | 18 [`environment`] | any function of any inputs, in another process |
//! | 28 [`length`] | an executor and a log, repeated to thousands of records |
//! | 29 [`invention`] | an executor and a log |
//!
//! Laws 1, 2 and 8, [`emitter`], [`resume`] and [`segments`] are those of [`foldline::laws`].
//!
//! Laws 1 to 11 prove that a reducer agrees with itself. Laws 12 to 16 prove that it says what the log says.
//!
//! Three functions check several laws at once and list them in a [`Report`]: [`every`] for an
//! [`Executor`](foldline_agents::Executor) and a log; [`emitter`] for any emitter;
//! [`testkit::ledger::check`](super::ledger::check) for a ledger. An emitter with a storable memory also satisfies
//! [`resume`], and what a ledger commits of an emitter satisfies [`segments`].

mod account;
mod calls;
mod every;
mod invention;
mod length;
mod patches;
mod records;
mod relations;
mod sessions;
mod texts;

pub use self::{
    account::{Accounts, NotAccounts, account, consumer_account},
    calls::{balance, only_end_a_call, order_of_results, pairing},
    every::{Every, Report, every},
    invention::invention,
    length::length,
    patches::{commuting_diagram, dense_indices},
    records::{Counts, Reading, chunk_invariance, reading, totality},
    relations::{bounded_state, spelling, unknown_content},
    sessions::{consumer_sessions, sessions},
};
pub use foldline::laws::{
    Outcome, determinism, emitter, environment, independence, resume, segments, split_invariance,
    split_invariance_at,
};

use crate::{Law, Place, Violation};
