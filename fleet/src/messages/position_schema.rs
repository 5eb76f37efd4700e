//! [`PositionSchema`]: the schema of a position, whose type belongs to the library.

use schemars::JsonSchema;

/// A position in a log.
#[derive(JsonSchema)]
#[schemars(rename = "Position")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct PositionSchema {
    /// The line, counted from 1; 0 before the first line.
    line: u64,
    /// The offset of the record in bytes, from 0 at the start of the file.
    offset: u64,
}
