//! What the engines of databases share: rows of events, queries, and the interface between them.
//!
//! A [`Store`] is a database of sessions, entries, tool calls and costs, such as
//! [`sqlite::Database`](super::sqlite::Database). Its queries, in [`query`], are methods of `dyn Store`, so they are
//! written once for all engines. [`RowEmitter`] turns domain events into [`Rows`], which a store commits as a
//! [`Ledger`](crate::ledger::Ledger), and [`SessionEvents`] reads them back.

pub(super) mod checkpoint;
mod dialect;
mod entry_row;
mod error;
mod fold;
mod parameters;
mod prepared;
pub mod query;
mod read;
mod row;
mod store;
mod stored;
#[cfg(feature = "postgres")]
pub(super) mod words;

pub use self::{
    dialect::Dialect,
    error::StoreError,
    prepared::{RowEmitter, Rows},
    read::StoredEntry,
    row::{Cell, FromCell, Row},
    store::{Parameter, Store},
    stored::SessionEvents,
};
pub(super) use self::{
    entry_row::{EntryRow, ToolRow},
    fold::{Change, Fold, NewAuthority, NewEntry, Warned, Warnings},
};

/// The placeholder for an unknown moment of usage. It is not the beginning of a quarter of an hour.
pub(super) const NOT_STATED: i64 = -1;
