//! The fields of nearly every line.

use foldline_testkit::generate::{FieldsStrategy, fields, literal, maybe, time, word};
use proptest::prelude::*;

/// The fields of nearly every line. All lines have the same session.
pub(super) fn common() -> FieldsStrategy {
    fields(vec![
        maybe("session_id", word(&["7f0c5c1e-0000-4000-8000-000000000001"])),
        maybe("uuid", literal()),
        maybe("timestamp", time()),
    ])
}

/// A part of a conversation that is one line.
pub(super) fn one(line: BoxedStrategy<String>) -> BoxedStrategy<Vec<String>> {
    line.prop_map(|line| vec![line]).boxed()
}
