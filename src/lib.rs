//! Foldline is a framework of pure reducers and emitters. A reducer folds the inputs of a log into one stream of events;
//! each emitter reads these events by reference and converts them into output.
//!
//! The framework, [`transduce`], is three traits and the [`Transducer`](transduce::Transducer) that composes them:
//!
//! ```text
//! trait Reducer<In, State, Event> {            // pure: no clock, no randomness, no I/O, no panic
//!     fn init(&self) -> State;
//!     fn reduce(&self, state: State, input: In) -> (State, Batch<Event>);
//!     fn finish(&self, state: State) -> (State, Batch<Event>);
//! }
//!
//! trait Emitter<Event, Out> {                  // any number of them, in one pass
//!     fn emit(&mut self, event: &Event) -> Batch<Out>;
//!     fn finish(&mut self) -> Batch<Out>;
//! }
//!
//! trait Resume {                               // what an emitter remembers is a value in the checkpoint
//!     type State;
//!     fn state(&self) -> Self::State;
//!     fn resume(&mut self, state: Self::State);
//! }
//! ```
//!
//! A whole reducer and a whole emitter:
//!
//! ```
//! use foldline::transduce::{Batch, Emitter, Reducer, Transducer};
//!
//! /// Doors that open and close; the state is the number of open ones.
//! struct Doors;
//!
//! #[derive(Debug, PartialEq)]
//! enum Event {
//!     Opened(String),
//!     Closed(String),
//!     Unknown(String),
//! }
//!
//! impl Reducer<&str, u32, Event> for Doors {
//!     fn init(&self) -> u32 {
//!         0
//!     }
//!
//!     fn reduce(&self, open: u32, line: &str) -> (u32, Batch<Event>) {
//!         match line.split_once(' ') {
//!             Some(("open", door)) => (open + 1, Batch::one(Event::Opened(door.into()))),
//!             Some(("close", door)) => (open.saturating_sub(1), Batch::one(Event::Closed(door.into()))),
//!             // Bad input is an event, never an exit.
//!             _ => (open, Batch::one(Event::Unknown(line.into()))),
//!         }
//!     }
//! }
//!
//! /// Counts what was opened.
//! #[derive(Default)]
//! struct Opened(u32);
//!
//! impl Emitter<Event, String> for Opened {
//!     fn emit(&mut self, event: &Event) -> Batch<String> {
//!         self.0 += u32::from(matches!(event, Event::Opened(_)));
//!         Batch::one(format!("{event:?}, {} opened so far", self.0))
//!     }
//! }
//!
//! let mut doors = Transducer::new(Doors, Opened::default());
//! assert_eq!(doors.step("open north").as_slice(), ["Opened(\"north\"), 1 opened so far"]);
//! assert_eq!(*doors.state(), 1);
//! ```
//!
//! The shell around them reads any log: [`processor::Segments`] is the loop of a program that reads, commits and
//! resumes.
//!
//! ```text
//!  bytes ─▶ lines ─▶ inputs ─▶ ┌───────────┐    events     ┌─▶ rows of a database
//!                              │  Reducer  │──────────────▶├─▶ counters
//!        (processor: I/O)      │  (pure)   │   by &ref,    └─▶ yours
//!                              └───────────┘   one pass
//!                                 State
//! ```
//!
//! The modules, each of which uses only those before it:
//!
//! - [`transduce`]: the framework. [`Reducer`](transduce::Reducer), [`Emitter`](transduce::Emitter) and
//!   the [`Transducer`](transduce::Transducer) that composes them. Without the feature `log`, which is on by default,
//!   it is the whole crate, and the crate has no dependency.
//! - [`laws`]: the laws of any reducer and emitter, for tests. Feature `laws`.
//! - [`files`]: files for their owner only, replaced as a whole.
//! - [`position`]: places in a log; values with their place.
//! - [`ledger`]: the commit rule: positions, states and outputs are committed together.
//! - [`processor`]: the imperative shell: bytes, lines, positions, segments.
//! - [`source`]: logs as files that grow, are rotated, replaced or truncated; following.
//!
//! [`json`] is the crate `foldline-json`: JSON values as raw text, and fast serialisation.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "log")]
pub mod files;
#[cfg(feature = "laws")]
pub mod laws;
#[cfg(feature = "log")]
pub mod ledger;
#[cfg(feature = "log")]
pub mod position;
#[cfg(feature = "log")]
pub mod processor;
#[cfg(feature = "log")]
pub mod source;
pub mod transduce;

#[cfg(feature = "log")]
pub use foldline_json as json;
