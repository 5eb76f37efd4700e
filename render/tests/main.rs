//! The tests of `foldline-render`: one program with a module per subject.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "that is how a test fails")]

#[allow(dead_code, reason = "the tests of agents use the rest")]
#[path = "../../agents/tests/captures.rs"]
mod captures;
mod html;
mod human_numbers;
mod markdown;
mod pictures;
mod redact;
mod text_imitations;
mod transcript;
