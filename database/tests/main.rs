//! The tests of `foldline-database`: one program with a module per subject.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "that is how a test fails")]

mod fan_out;
mod file_ledger;
mod ledgers;
mod sqlite;
mod usage_of_sessions;
