//! [`JsonLines`] and [`TextLines`]: write the outputs of an emitter as lines.
//!
//! Both are emitters whose only outputs are write errors, so that they can be part of any fan-out.
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
