//! [`Record`]: one value of a log, before an executor interprets it.

use std::fmt;

use crate::json::Raw;

use super::{Object, cursor::RecordCursor};
use crate::position::Digest;

/// One value of a log, or text in place of one.
#[derive(Clone, Debug)]
pub enum Record<'a> {
    /// A JSON object: the records of every format here.
    Object(Object<'a>),
    /// Anything else, which real logs contain too.
    Irregular(Irregular<'a>),
}

/// Content of a log that is not an object.
#[derive(Clone, Debug)]
pub enum Irregular<'a> {
    /// JSON, but not an object.
    Value(Raw<'a>),
    /// Not JSON: text for people.
    Text(&'a str),
    /// Begins like JSON and is not: truncated or damaged.
    Malformed {
        /// The text as it stands.
        text: &'a str,
        /// What is wrong with it, and where.
        error: String,
    },
    /// The line that follows is not UTF-8; the bytes in question were replaced by U+FFFD.
    InvalidUtf8 {
        /// The first such byte of the line, counted from 0.
        at: usize,
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
            Self::TooLong(line) => {
                write!(f, "a line of {} bytes, of which only the beginning was kept", line.bytes)
            }
        }
    }
}

impl<'a> Record<'a> {
    /// Reads every record of a line, with the byte at which each begins.
    ///
    /// A line that is one object costs one scan. Otherwise, objects without a separator and arrays of objects
    /// are split, and after a damaged part the search continues at the next record.
    pub fn read(line: &'a str, mut each: impl FnMut(usize, Record<'a>)) {
        let mut cursor = RecordCursor::default();
        while let Some((at, record)) = cursor.next(line) {
            each(at, record);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<String> {
        let mut records = Vec::new();
        Record::read(line, |offset, record| {
            records.push(match record {
                Record::Object(object) => format!("{offset} object {}", object.rest().len()),
                Record::Irregular(Irregular::Value(raw)) => format!("{offset} value {}", raw.get()),
                Record::Irregular(Irregular::Text(text)) => format!("{offset} text {text}"),
                Record::Irregular(Irregular::Malformed { text, .. }) => {
                    format!("{offset} malformed {text}")
                }
                Record::Irregular(other) => format!("{offset} {other}"),
            });
        });
        records
    }

    #[test]
    fn regular_lines() {
        assert_eq!(read(r#"{"a":1}"#), ["0 object 1"]);
        assert_eq!(read(r#" {"a":1} "#), ["1 object 1"]);
        assert_eq!(read("  "), [""; 0]);
    }

    #[test]
    fn lines_that_are_not_one_object() {
        assert_eq!(read("Error: no"), ["0 text Error: no"]);
        assert_eq!(read("12 monkeys"), ["0 text 12 monkeys"]);
        assert_eq!(read("null"), ["0 value null"]);
        assert_eq!(read(" [ ]"), ["1 value [ ]"]);
        assert_eq!(read("[1,2]"), ["0 value [1,2]"]);
        assert_eq!(read(r#"[{"a":1}, 2]"#), ["1 object 1", "10 value 2"]);
        assert_eq!(read(r#"{"a":1}{"b":2} {"c":3}"#), ["0 object 1", "7 object 1", "15 object 1"]);
    }

    #[test]
    fn after_damage_the_next_record_is_found() {
        assert_eq!(read(r#"{"a":1,"b":"x"#), [r#"0 malformed {"a":1,"b":"x"#]);
        assert_eq!(
            read(r#"{"a":1,"b":"x{"c":3,"d":[{"e":1}]}"#),
            [r#"0 malformed {"a":1,"b":"x"#, "13 object 2"]
        );
        assert_eq!(read(r#"{"a":{"b":1}"#), [r#"0 malformed {"a":{"b":1}"#]);
        assert_eq!(read(r#"{"a":1}{"b":"#), ["0 object 1", r#"7 malformed {"b":"#]);
        assert_eq!(
            read(r#"[{"a":1},{"b":2},{"c":"x"#),
            ["1 object 1", "9 object 1", r#"17 malformed {"c":"x"#]
        );
    }

    #[test]
    fn one_writer_within_the_line_of_another() {
        assert_eq!(
            read(r#"{"a":"x{"b":1}{"c":2}y"}"#),
            [r#"0 malformed {"a":"x"#, "7 object 1", "14 object 1", r#"21 text y"}"#]
        );
        assert_eq!(
            read(r#"{"a":"x{"b":1}y{"c":2}"#),
            [r#"0 malformed {"a":"x"#, "7 object 1", "14 text y", "15 object 1"]
        );
    }

    #[test]
    fn the_end_of_a_torn_line_before_a_record() {
        assert_eq!(read(r#"lo"}{"a":1}"#), [r#"0 text lo"}"#, "4 object 1"]);
        assert_eq!(read("\0\0{\"a\":1}"), ["0 text \0\0", "2 object 1"]);
        assert_eq!(read(r#"Error: {"a":1}"#), [r#"0 text Error: {"a":1}"#]);
        assert_eq!(read(r#"["x",{"a":1}"#), [r#"0 malformed ["x",{"a":1}"#]);
    }

    #[test]
    fn too_many_fields_are_no_object() {
        let fields: Vec<_> = (0..10_000).map(|n| format!("\"{n}\":0")).collect();
        let line = format!("{{{}}}", fields.join(","));
        assert_eq!(read(&line), [format!("0 value {line}")]);
    }
}
