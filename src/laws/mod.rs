//! Laws for the tests of any reducer and any emitter, on random inputs. Feature `laws`; it does not need `log`.
//!
//! A reducer is a pure function, so a test can run it as often as it likes, and compare. [`Laws`] does: the laws of every
//! reducer need no declaration, and an invariant of your own is a line.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use foldline::{laws::{Laws, inputs}, transduce::{Batch, reduce_fn}};
//! use proptest::prelude::*;
//!
//! #[derive(Clone, Debug, PartialEq)]
//! enum Event {
//!     Booked(i64),
//!     Refused,
//! }
//!
//! // A bank that refuses debts: an order is the number of an account, and cents.
//! let bank = || {
//!     reduce_fn(BTreeMap::new, |mut accounts: BTreeMap<u8, i64>, (account, cents): (u8, i64)| {
//!         let after = accounts.get(&account).unwrap_or(&0) + cents;
//!         if after < 0 {
//!             return (accounts, Batch::one(Event::Refused));
//!         }
//!         accounts.insert(account, after);
//!         (accounts, Batch::one(Event::Booked(cents)))
//!     })
//! };
//! let booked = |events: &[Event]| -> i64 {
//!     events.iter().map(|event| if let Event::Booked(cents) = event { *cents } else { 0 }).sum()
//! };
//!
//! Laws::of(bank, inputs((0_u8..3, -99_i64..99)))
//!     .conserves("an event for each order", |orders, events| (orders.len(), events.len()))
//!     .invariant("money", |accounts, events| (accounts.values().sum(), booked(events)))
//!     .monotone("no debts", |accounts, _| accounts.values().all(|cents| *cents >= 0))
//!     .commutes(|one, two| one.0 != two.0)
//!     .resumes()
//!     .check();
//! ```
//!
//! A violation names the law, and shows the smallest inputs, the place and the difference:
//!
//! ```text
//! law 21 (idempotence) does not hold, at input 0: the input is repeated
//! --- as it is
//! +++ changed
//! @@ -1,3 +1,3 @@
//!  {
//! -    0: 1,
//! +    0: 2,
//!  }
//! inputs:
//!   [(0, 1)]
//! ```
//!
//! # What to declare
//!
//! | invariant | in a line |
//! | --- | --- |
//! | what goes in comes out: lines, money | [`conserves`](Laws::conserves), [`invariant`](Laws::invariant) |
//! | a counter, a clock, a promise is kept | [`monotone`](Laws::monotone) |
//! | a repeated record is recognised | [`idempotent`](Laws::idempotent) |
//! | accounts, clients, sessions do not depend on each other | [`commutes`](Laws::commutes) |
//! | two machines count, and their states are added | [`merges`](Laws::merges) |
//! | it is fast, and the simple way is known | [`model`](Laws::model) |
//! | what it writes can be read | [`round_trip`](Laws::round_trip) |
//! | the state is stored | [`resumes`](Laws::resumes) |
//! | what is over is forgotten, such as ids | [`bounded`](Laws::bounded) |
//! | it is killed and resumed with its emitter | [`walks`](Laws::walks) |
//! | an emitter has a memory; clients apply its patches | [`EmitterLaws`] |
//!
//! Laws that nothing in the generated inputs exercises are refused. The generated inputs are always the same;
//! `PROPTEST_RNG_SEED` gives others, `PROPTEST_CASES` more.
//!
//! Each law is a function, too, for inputs that you have: [`determinism`], [`split_invariance`], [`prefix`],
//! [`bounded_state`], [`environment()`], [`emitter`], [`resume`], [`applied`], [`walk()`] and others. A [`Violation`] is an error, so that `?`
//! passes it on in a property test of your own. The strategies [`inputs`], [`part_of`] and [`steps`] shrink by leaving out
//! whole inputs. The laws of logs of agents are in `foldline-testkit`.
//!
//! # This kind of fault: this law
//!
//! Of reducers and emitters that the tests of this module break on purpose:
//!
#![doc = include_str!("faults.md")]

mod emitter_laws;
mod emitters;
mod environment;
mod reducer_laws;
mod report;
mod steps;
mod suite;
mod violation;
mod walk;

#[cfg(feature = "log")]
pub use self::emitters::segments;
pub use self::{
    emitter_laws::EmitterLaws,
    emitters::{applied, emitter, independence, resume},
    environment::environment,
    reducer_laws::{Laws, OfLines},
    report::{Outcome, Report},
    steps::{
        bounded_state, determinism, growth, no_panic, prefix, split_invariance, split_invariance_at,
    },
    suite::{inputs, part_of},
    violation::{Law, Names, Place, Side, Violation, caught, same},
    walk::{Step, steps, walk},
};
