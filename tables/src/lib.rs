//! Sessions of coding agents as tables: [`Table::Sessions`], [`Table::Entries`], [`Table::Calls`], [`Table::Usage`].
//!
//! [`SessionRows`] is an emitter from the events of a session to [`Row`]s. Their columns are the same in every form:
//!
//! - [`json`]: a JSON object for each row;
//! - `arrow`, with the feature of that name: record batches in memory;
//! - `parquet`, with the feature of that name: files of a dataset, in row groups of bounded size.
//!
//! A row is emitted as soon as it is complete, so that only open entries are in memory. The rows of a table are therefore
//! not in the order of the entries: `entry` is the index of an entry in its session.
//!
//! ```
//! use foldline::transduce::Emitter;
//! use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage};
//! use foldline_tables::{SessionRows, Table, json};
//!
//! let mut rows = SessionRows::new(Some("s-1".into()));
//! let event = DomainEvent::entry(NormalizedEntry::new(UserMessage, "Why is it slow?"));
//! let batch = rows.emit(&event);
//! let [row] = batch.as_slice() else { panic!("an entry is a row") };
//! assert_eq!(row.table, Table::Entries);
//! assert!(json::line(row)?.starts_with(r#"{"table":"entries","session":"s-1","entry":0,"#));
//! # Ok::<(), foldline_json::Error>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "arrow")]
pub mod arrow;
mod columns;
mod emitter;
pub mod json;
#[cfg(feature = "parquet")]
pub mod parquet;

pub use self::{
    columns::{Column, Kind, Row, Table, Value},
    emitter::{SessionRows, UsageRow},
};
