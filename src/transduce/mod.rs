//! The framework: pure reducers, emitters, and the thin shell that connects them.
//!
//! A [`Reducer`] is a pure function, `(state, input) -> (state, events)`. An [`Emitter`] reads those events by
//! reference and converts them into output: patches, metrics, rows, text. A [`Transducer`] holds a reducer, its state
//! and an emitter, and drives them one input at a time. To use several emitters at once, combine them in a tuple, a
//! `Vec` or a [`Tee`]; each receives every event, in order, in one pass.
//!
//! This module is independent of file formats, does no I/O, and uses only `std`.
//!
//! ```
//! use foldline::transduce::{Batch, Emitter, Reducer, Transducer};
//!
//! #[derive(Debug, PartialEq)]
//! enum Event {
//!     Opened { door: u32 },
//!     Closed { door: u32 },
//! }
//!
//! /// Doors report their number when they move; a door that is open can only close.
//! struct Doors;
//!
//! impl Reducer<u32, Vec<u32>, Event> for Doors {
//!     fn init(&self) -> Vec<u32> {
//!         Vec::new()
//!     }
//!     fn reduce(&self, mut open: Vec<u32>, door: u32) -> (Vec<u32>, Batch<Event>) {
//!         let event = match open.iter().position(|&it| it == door) {
//!             Some(at) => {
//!                 open.remove(at);
//!                 Event::Closed { door }
//!             }
//!             None => {
//!                 open.push(door);
//!                 Event::Opened { door }
//!             }
//!         };
//!         (open, Batch::one(event))
//!     }
//!     fn finish(&self, open: Vec<u32>) -> (Vec<u32>, Batch<Event>) {
//!         let closing = open.into_iter().map(|door| Event::Closed { door }).collect();
//!         (Vec::new(), closing)
//!     }
//! }
//!
//! /// One consumer: a line of text for each event.
//! struct Log;
//!
//! impl Emitter<Event, String> for Log {
//!     fn emit(&mut self, event: &Event) -> Batch<String> {
//!         Batch::one(format!("{event:?}"))
//!     }
//! }
//!
//! /// Another: a number, once, at the end.
//! #[derive(Default)]
//! struct Count(usize);
//!
//! impl Emitter<Event, usize> for Count {
//!     fn emit(&mut self, _: &Event) -> Batch<usize> {
//!         self.0 += 1;
//!         Batch::EMPTY
//!     }
//!     fn finish(&mut self) -> Batch<usize> {
//!         Batch::one(self.0)
//!     }
//! }
//!
//! let mut doors = Transducer::new(Doors, (Log, Count::default()));
//!
//! let lines = |out: Batch<(Batch<String>, Batch<usize>)>| -> Vec<String> {
//!     out.into_iter().flat_map(|(log, _)| log).collect()
//! };
//! assert_eq!(lines(doors.step(7)), ["Opened { door: 7 }"]);
//! assert_eq!(lines(doors.step(9)), ["Opened { door: 9 }"]);
//! assert_eq!(lines(doors.step(7)), ["Closed { door: 7 }"]);
//! assert_eq!(doors.state(), &[9]);
//!
//! let (open, (_, count), last) = doors.finish();
//! assert!(open.is_empty());
//! assert_eq!(count.0, 4);
//! assert_eq!(last.len(), 2); // the door that was closed, and the count
//! ```
//!
//! # From a `&mut self` method to a pure core
//!
//! A state machine with a method `fn reduce(&mut self, input) -> Vec<Output>` becomes pure by taking the state out,
//! reducing, and putting the new state back. [`Transducer::step`] has that call shape: call sites keep their `&mut`,
//! and the core stays a function that a test calls with plain values.
//!
//! # What goes where
//!
//! - Facts about the domain: events and the reducer's state.
//! - Presentation and storage (indices, formats, counters): an emitter.
//! - Errors in the input: events. Errors of a sink: its output, `Emitter<Event, Result<T, E>>`.
//! - Reading, writing, clocks, randomness: neither; they belong in the caller's loop.
//! - Panics: nowhere, by contract. If the others must continue in spite of a panic, [`guard`] turns it into an
//!   output.

mod adapters;
pub mod batch;
mod emitter;
mod guard;
mod keyed;
mod reducer;
mod transducer;
pub(crate) mod wrapper;

pub use adapters::{
    AtEnd, Contramap, EmitFn, Filter, Map, Memoryless, Tee, at_end, contramap, emit_fn, filter,
    map, memoryless,
};
pub use batch::Batch;
pub use emitter::{Emitter, Resume};
pub use guard::{Fault, Guarded, guard};
pub use keyed::{Keyed, KeyedEmitter};
pub use reducer::{Both, ReduceFn, Reducer, Then, reduce_fn};
pub use transducer::Transducer;
