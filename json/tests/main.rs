//! The tests of `foldline-json`: one program with a module per subject.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "that is how a test fails")]

mod equal_json;
mod length_of_text;
mod spelling_of_text;
