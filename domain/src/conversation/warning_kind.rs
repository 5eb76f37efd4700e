//! [`WarningKind`]: the kinds of problems of a log.

use serde::{Deserialize, Serialize};

/// The kinds of warnings. Serialised in `snake_case`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A line that begins like JSON but is invalid.
    Malformed,
    /// A line that is not JSON, in a JSON-only format.
    PlainText,
    /// Invalid UTF-8; the bytes were replaced by U+FFFD.
    InvalidUtf8,
    /// A line longer than the limit, or a binary one; only its beginning is kept.
    TooLong,
    /// A JSON value that is not an object, or an object without its type field.
    UnexpectedValue,
    /// A record that belongs to another format.
    ForeignRecord,
    /// A record of an unsupported type.
    UnknownEvent,
    /// An unsupported field, or a field of an unexpected type.
    UnknownField,
    /// An unsupported content block.
    UnknownBlock,
    /// An unsupported tool other than an MCP tool.
    UnknownTool,
    /// A second call with the same id; the first one is kept.
    DuplicateCall,
    /// A second result for one call; the first one is kept.
    DuplicateResult,
    /// A result without a call at the end of the log, or when it was evicted.
    UnclaimedResult,
    /// A result without a call id that was assigned to the oldest matching call.
    InferredResult,
    /// A call without a result at the end of the log.
    UnfinishedCall,
    /// An update to an unknown entry.
    UnknownCorrelation,
}

impl WarningKind {
    /// The serialised name of this kind.
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
