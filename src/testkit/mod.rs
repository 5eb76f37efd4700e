//! Laws and generators, for people who write reducers and emitters.
//!
//! - [`law`]: what every reducer and emitter keeps, one function for each law. They return a
//!   [`Violation`] that names the law, the place, and both sides of what differs there.
//! - [`run`]: from a log to its records and events, as the laws do it.
//! - [`generate`]: `proptest` strategies for what is common to all logs: JSON, strings, and the ways
//!   in which real logs are disturbed (torn, glued, blank, repeated, not UTF-8, ..); and for emitters,
//!   the events of whole logs.
//! - [`droid`], [`droid::session`], [`claude::stream`], [`claude::session`], [`codex::exec`],
//!   [`codex::rollout`]: strategies for the lines and conversations of one format. Each has the same
//!   three functions: `line()`, any one line; `conversation()`, the lines of a log in which
//!   everything is as it should be; and `log()`, the bytes of a log in which hardly anything is.
//!
//! A test of your own executor against every law, on a log of yours:
//!
//! ```
//! use foldline::{
//!     conversation::{DomainEvent, NormalizedEntryType},
//!     executors::{report, wire::Record},
//!     testkit::law,
//!     transduce::{Batch, Reducer},
//! };
//!
//! /// Reads logs of lines such as `{"type":"say","text":"hello"}`.
//! struct Sayings;
//!
//! impl<'a> Reducer<Record<'a>, (), DomainEvent> for Sayings {
//!     fn init(&self) {}
//!     fn reduce(&self, (): (), record: Record<'a>) -> ((), Batch<DomainEvent>) {
//!         let mut events = Batch::EMPTY;
//!         match record {
//!             Record::Object(mut object) if object.get_str("type").as_deref() == Some("say") => {
//!                 let text = object.text("text").unwrap_or_default();
//!                 events.push(report::said(NormalizedEntryType::AssistantMessage, text, None));
//!             }
//!             Record::Object(object) => {
//!                 report::unknown_event("?", &object.rest(), None, &mut events);
//!             }
//!             Record::Irregular(irregular) => report::irregular(&irregular, &mut events),
//!         }
//!         ((), events)
//!     }
//! }
//!
//! law::every(&Sayings, b"{\"type\":\"say\",\"text\":\"hello\"}\nand {so on\n")?;
//! # Ok::<(), foldline::testkit::Violation>(())
//! ```

pub mod claude;
pub mod codex;
pub mod droid;
pub mod generate;
pub mod law;
pub mod ledger;
pub mod run;
mod violation;

pub use self::violation::{Law, Place, Side, Violation};
