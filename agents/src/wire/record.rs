//! [`Record`]: one value of a log, before an executor interprets it.

use std::fmt;

use foldline::position::Digest;
use foldline_json::Raw;

use super::object::Object;

/// One value of a log, or other text.
#[derive(Clone, Debug)]
pub enum Record<'a> {
    /// A JSON object, as the records of all supported formats are.
    Object(Object<'a>),
    /// Anything else, which real logs contain too.
    Irregular(Irregular<'a>),
}

/// Content of a log that is not an object.
#[derive(Clone, Debug)]
pub enum Irregular<'a> {
    /// JSON, but not an object.
    Value(Raw<'a>),
    /// Text that is not JSON.
    Text(&'a str),
    /// Begins like JSON and is not: truncated or damaged.
    Malformed {
        /// The unchanged text.
        text: &'a str,
        /// The error and its position.
        error: String,
    },
    /// The line that follows is not UTF-8; the bytes in question were replaced by U+FFFD.
    InvalidUtf8 {
        /// The first such byte of the line, counted from 0.
        at: usize,
    },
    /// The line that follows is longer than the limit; the ends of its long strings were left out.
    Shortened {
        /// Its length in bytes, without the line end.
        bytes: u64,
        /// The SHA-256 value of these bytes, if the reader computed it.
        sha256: Option<Digest>,
    },
    /// A line longer than the limit, or a binary one; only its beginning was kept.
    TooLong(TooLong<'a>),
}

/// A line that was not kept whole, because it was too long, or because too much of it is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong<'a> {
    /// Its beginning.
    pub head: &'a str,
    /// Its length in bytes, without the line end.
    pub bytes: u64,
    /// The SHA-256 value of these bytes, if the reader computed it.
    pub sha256: Option<Digest>,
}

impl fmt::Display for Irregular<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(_) => {
                f.write_str("a JSON value that is no object, or one with too many fields")
            }
            Self::Text(_) => f.write_str("a line of plain text where the format has only JSON"),
            Self::Malformed { error, .. } => write!(f, "not JSON: {error}"),
            Self::InvalidUtf8 { at } => write!(f, "not UTF-8, from byte {at} of the line on"),
            Self::Shortened { bytes, .. } => {
                write!(
                    f,
                    "a line of {bytes} bytes, of whose long texts only the beginnings were kept"
                )
            }
            Self::TooLong(line) => {
                write!(f, "a line of {} bytes, of which only the beginning was kept", line.bytes)
            }
        }
    }
}

impl<'a> Record<'a> {
    /// The object, if it is one.
    pub fn object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            Self::Irregular(_) => None,
        }
    }

    /// A single value as a record.
    pub(super) fn from_value(raw: Raw<'a>) -> Self {
        match Object::parse(raw.get()) {
            Ok(object) => Record::Object(object),
            Err(_) => Record::Irregular(Irregular::Value(raw)),
        }
    }
}
