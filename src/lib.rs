//! Foldline is a framework of pure reducers and emitters. A reducer folds the records of a log into one stream of events;
//! each emitter reads these events by reference and converts them into output. Its first domain is the logs of coding
//! agents.
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
//! The shell around them reads any log: `processor::Segments` is the loop of a program that reads, commits and resumes.
//!
//! ```text
//!  bytes ─▶ lines ─▶ records ─▶ ┌───────────┐  DomainEvent  ┌─▶ patches ─▶ a user interface
//!                               │  Reducer  │──────────────▶├─▶ a transcript
//!        (processor: I/O)       │  (pure)   │   by &ref,    └─▶ yours
//!                               └───────────┘   one pass
//!                                  State
//! ```
//!
//! The modules, each of which uses only those before it:
//!
//! - [`transduce`]: the framework. [`Reducer`](transduce::Reducer), [`Emitter`](transduce::Emitter) and
//!   the [`Transducer`](transduce::Transducer) that composes them. Knows no JSON and no agent.
//! - [`files`]: files for their owner only, replaced as a whole.
//! - [`json`]: JSON values as raw text, and fast serialisation.
//! - [`position`]: places in a log; values with their place.
//! - [`conversation`]: the domain. [`DomainEvent`](conversation::DomainEvent) is the one boundary
//!   between agents and consumers; [`ToolCalls`](conversation::ToolCalls) pairs results with calls.
#![cfg_attr(
    feature = "executors",
    doc = "- [`executors`]: one folder per agent; wire types in, domain events out."
)]
#![cfg_attr(
    feature = "patch",
    doc = "- [`emitters`]: one file or folder per consumer; domain events in, output out."
)]
#![cfg_attr(
    feature = "processor",
    doc = "- [`processor`]: the imperative shell: bytes, lines, positions."
)]
#![cfg_attr(feature = "pricing", doc = "- [`pricing`]: what tokens cost.")]
#![cfg_attr(
    feature = "source",
    doc = "- [`source`]: logs as files that grow, are rotated, replaced or truncated; following."
)]
//! - [`ledger`]: the commit rule: positions, states and outputs are committed together.
#![cfg_attr(feature = "store", doc = "- [`store`]: the live document with its subscribers.")]
#![forbid(unsafe_code)]

#[cfg(feature = "conversation")]
pub mod conversation;
#[cfg(feature = "conversation")]
pub mod emitters;
#[cfg(feature = "executors")]
pub mod executors;
#[cfg(feature = "conversation")]
pub mod files;
#[cfg(feature = "conversation")]
pub mod json;
#[cfg(feature = "conversation")]
pub mod ledger;
#[cfg(all(doc, feature = "processor"))]
pub mod performance;
#[cfg(feature = "conversation")]
pub mod position;
#[cfg(feature = "pricing")]
pub mod pricing;
#[cfg(feature = "processor")]
pub mod processor;
#[cfg(feature = "source")]
pub mod source;
#[cfg(feature = "store")]
pub mod store;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod transduce;
#[cfg(feature = "conversation")]
pub mod wire;

/// The snippets of the README are tests.
#[cfg(all(doctest, feature = "full", feature = "testkit"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// And those of the design's questions and answers.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../DESIGN.md")]
struct Design;
