//! The tests of `foldline`: one program with a module per subject.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "that is how a test fails")]

mod digest;
mod file_identity;
mod file_ledger;
mod files_replaced;
mod framer;
#[cfg(feature = "laws")]
mod laws;
mod segments;
mod source;
mod structure;
mod transduce;
mod transduce_memory;
mod transduce_properties;
mod transducer;
