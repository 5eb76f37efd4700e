//! Laws and generators for authors of executors, emitters and ledgers. The laws of reducers and emitters of anything
//! else are [`foldline::laws`].
//!
//! - An **executor**: call [`law::every`] with it and one of your logs in a test. For more variants, run it in a
//!   property test on [`generate::mutated`] versions of that log.
//! - An **emitter**: call [`law::emitter`] in a property test over [`generate::events`]. If its memory can be stored,
//!   call [`law::resume`] too; if a ledger commits its output, [`law::segments`].
//! - A **ledger**: write a small [`ledger::Engine`], and call [`ledger::check`] and, in a property
//!   test, [`ledger::model`].
//!
//! They return a [`Violation`] that names the law and the position, and shows the difference as a diff. The first two
//! also return a [`law::Report`] of the laws that were checked, and the laws that did not apply to the log.
//!
//! [`law`] has each law as a separate function, [`run`] reduces a log to its records and events like the laws do. The
//! crate's own tests generate the logs of three agents with the building blocks in [`generate`].
//!
//! Every law for an executor:
//!
//! ```
//! use foldline_agents::{Context, Evidence, Executor, Extra, Format, Header, Parsed, wire::Object};
//! use foldline_domain::{
//!     NormalizedEntry, NormalizedEntryType, Text, Timestamp, tool_calls::CallResult,
//! };
//! use foldline_testkit::{Law, law};
//!
//! # #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
//! # struct NoResult;
//! # impl CallResult for NoResult {
//! #     fn complete(self, _: &mut NormalizedEntry) {}
//! #     fn timestamp(&self) -> Option<Timestamp> { None }
//! #     fn content(&self) -> Text { Text::default() }
//! # }
//! /// Reads logs of lines such as `{"type":"say","text":"hello"}`.
//! struct Sayings;
//!
//! impl Executor for Sayings {
//!     const FORMAT: Format =
//!         Format::new("sayings", "Sayings", "sayer");
//!     type Line<'a> = Text;
//!     type Result = NoResult; // this agent has no tools
//!     type Memory = ();
//!
//!     fn recognise(&self, object: &Object<'_>) -> Evidence {
//!         let is_said = object.get_str("type").as_deref() == Some("say");
//!         if is_said { Evidence::Possible } else { Evidence::None }
//!     }
//!
//!     fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Text> {
//!         match &*header.name {
//!             "say" => Parsed::Line(object.text("text").unwrap_or_default()),
//!             _ => Parsed::Unknown,
//!         }
//!     }
//!
//!     fn line(&self, line: Text, _: Extra, _: &mut (), cx: &mut Context<'_, NoResult>) {
//!         cx.entry(NormalizedEntryType::AssistantMessage, line, Vec::new());
//!     }
//! }
//!
//! let report = law::every(Sayings, b"{\"type\":\"say\",\"text\":\"hello\"}\nand {so on\n")?;
//! assert!(report.is_checked(Law::Totality));
//! # Ok::<(), foldline_testkit::Violation>(())
//! ```
#![forbid(unsafe_code)]

pub mod generate;
pub mod guide;
pub mod law;
pub mod ledger;
pub mod run;

pub use self::run::{Fold, SessionFold};
pub use foldline::laws::{Law, Place, Side, Violation};
