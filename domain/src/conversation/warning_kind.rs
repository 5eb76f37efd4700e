//! [`WarningKind`]: what is wrong with a part of a log.

use serde::{Deserialize, Serialize};

/// The kinds of warnings. Serialised in `snake_case`.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A line that begins like JSON but is invalid.
    Malformed,
    /// A line that is not JSON, in a JSON-only format.
    PlainText,
    /// Invalid UTF-8; the bytes were replaced by U+FFFD.
    InvalidUtf8,
    /// A line longer than the limit, or a binary one; its beginning is kept, or the whole without the ends of long texts.
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
    /// The log begins in the middle of a session: what a running total includes of the time before does not count.
    MissingBeginning,
}

impl WarningKind {
    /// The serialised name of this kind.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
