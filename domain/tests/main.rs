//! The tests of `foldline-domain`: one program with a module per subject.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "that is how a test fails")]

mod actions_in_json;
mod audit;
mod correlation;
mod drift;
mod ids;
mod msg_store;
mod patch;
mod pricing;
mod shape_of_entries;
mod texts_of_entries;
mod token_totals;
mod tool_calls;
