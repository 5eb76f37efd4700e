//! What emitters make of events, written as lines: [`JsonLines`] and [`TextLines`].
//!
//! Both are emitters whose only output is what went wrong, so that they stand in a fan-out beside any
//! other.
//!
//! ```
//! use foldline::{
//!     conversation::{DomainEvent, Located, NormalizedEntry, NormalizedEntryType, Position, by_item},
//!     emitters::lines::TextLines,
//!     transduce::{Batch, Emitter, emit_fn},
//! };
//!
//! let kinds = emit_fn(|event: &DomainEvent| Batch::one(event.name()));
//! let mut lines = TextLines::new(by_item(kinds), Vec::new());
//! let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "hi");
//! let event = Located::new(Position::default(), DomainEvent::entry(entry));
//! assert!(lines.emit(&event).is_empty());
//! lines.flush()?;
//! assert_eq!(lines.get_ref(), b"new_entry\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod json;
mod text;
mod writer;

pub use self::{json::JsonLines, text::TextLines, writer::LineWriter};
