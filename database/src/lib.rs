//! What the engines of databases share: rows of events, queries, and the interface between them.
//!
//! A [`Store`] is a database of sessions, entries, tool calls and costs, such as
//! [`sqlite::Database`]. Its queries, in [`query`], are methods of `dyn Store`, so they are
//! written once for all engines. [`RowEmitter`] turns domain events into changes, which become [`Rows`], the
//! output that a store commits as a [`Ledger`](foldline::ledger::Ledger); [`SessionEvents`] reads them back.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod arguments;
pub(crate) mod checkpoint;
mod dialect;
mod entry_row;
mod error;
mod fold;
mod nested;
mod parameters;
#[cfg(feature = "postgres")]
pub mod postgres;
mod prepared;
pub mod query;
mod read;
mod removal;
mod row;
pub mod sqlite;
mod store;
mod stored;
pub mod usage;
#[cfg(feature = "postgres")]
pub(crate) mod words;

pub use self::{
    dialect::Dialect,
    error::StoreError,
    prepared::{RowChange, RowChanges, RowEmitter, Rows},
    read::StoredEntry,
    removal::{Forgotten, Prune, Pruned},
    row::{Cell, FromCell, Row},
    store::{Parameter, Store},
    stored::SessionEvents,
};
pub(crate) use self::{
    entry_row::{EntryRow, ToolRow},
    fold::{Change, Fold, NewAuthority, NewEntry, NewLeaf, Warned, Warnings},
};

/// The placeholder for an unknown moment of usage, since a column of a key is never `NULL`. No agent worked then.
pub(crate) const NOT_STATED: i64 = -1;
