//! The tests of `foldline-trajectory`: one program with a module per subject.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "that is how a test fails")]

#[allow(dead_code, reason = "the tests of agents use the rest")]
#[path = "../../agents/tests/captures.rs"]
mod captures;
mod emitter;
mod read;
