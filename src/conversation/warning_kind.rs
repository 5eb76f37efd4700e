//! [`WarningKind`]: what can be wrong with a log.

use serde::{Deserialize, Serialize};

/// The kinds of warnings. Serialised in `snake_case`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningKind {
    /// A line that begins like JSON and is not valid.
    Malformed,
    /// A line that is not JSON, in a format that has only JSON.
    PlainText,
    /// Bytes that are not UTF-8; they were replaced by U+FFFD.
    InvalidUtf8,
    /// A line longer than the limit, or a binary one; only its beginning is kept.
    TooLong,
    /// A JSON value that is not an object, or an object without its type field.
    UnexpectedValue,
    /// A record that belongs to another format.
    ForeignRecord,
    /// A type of record that the executor does not know.
    UnknownEvent,
    /// A field that the executor does not know, or that has an unexpected type.
    UnknownField,
    /// A content block that the executor does not know.
    UnknownBlock,
    /// A tool that the executor does not know, and that is not an MCP tool.
    UnknownTool,
    /// A second call with the same id; the first one counts.
    DuplicateCall,
    /// A second result for one call; the first one counts.
    DuplicateResult,
    /// A result that no call claimed before the end of the log, or before it was evicted.
    UnclaimedResult,
    /// A result that names no call was assigned to the oldest one that fits.
    InferredResult,
    /// A call without a result at the end of the log.
    UnfinishedCall,
    /// An update to an unknown entry.
    UnknownCorrelation,
}

impl WarningKind {
    /// The word that this kind is serialised as.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::PlainText => "plain_text",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::TooLong => "too_long",
            Self::UnexpectedValue => "unexpected_value",
            Self::ForeignRecord => "foreign_record",
            Self::UnknownEvent => "unknown_event",
            Self::UnknownField => "unknown_field",
            Self::UnknownBlock => "unknown_block",
            Self::UnknownTool => "unknown_tool",
            Self::DuplicateCall => "duplicate_call",
            Self::DuplicateResult => "duplicate_result",
            Self::UnclaimedResult => "unclaimed_result",
            Self::InferredResult => "inferred_result",
            Self::UnfinishedCall => "unfinished_call",
            Self::UnknownCorrelation => "unknown_correlation",
        }
    }
}
