//! The tests of `foldline-otlp`: one program with a module per subject.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "that is how a test fails")]

mod otlp;
