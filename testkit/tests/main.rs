//! The tests of `foldline-testkit`: one program with a module per subject.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "that is how a test fails")]

mod emitters;
mod kafka_paper;
mod law;
mod ledger;
