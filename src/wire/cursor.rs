//! [`RecordCursor`]: the records of a line, one after another.

use super::{
    object::Object,
    record::{Irregular, Record},
    split::{Split, whole_value},
};

/// How much of a line was read. It borrows nothing, so that reading can be interrupted.
///
/// A line that is one object costs one scan.
#[derive(Clone, Debug, Default)]
pub(crate) enum RecordCursor {
    /// Nothing.
    #[default]
    Begin,
    /// Some of a line that is not one object.
    Within(Split),
    /// All.
    End,
}

impl RecordCursor {
    /// Where the next record of the same line begins; `None` at the end of the line.
    #[allow(dead_code, reason = "what reads a line in parts is in a layer above")]
    pub(crate) fn peek(&self, line: &str) -> Option<usize> {
        match self {
            Self::Begin => Some(start(line)).filter(|start| *start < line.len()),
            Self::Within(split) => split.peek(line),
            Self::End => None,
        }
    }

    /// The record that is the whole line, if it is an object, and where it begins.
    #[allow(dead_code, reason = "what parses lines ahead is in a layer above")]
    pub(crate) fn object(line: &str) -> Option<(usize, Record<'_>)> {
        Some((start(line), Record::Object(Object::parse(line).ok()?)))
    }

    /// The next record of the same line, and where it begins.
    pub(crate) fn next<'a>(&mut self, line: &'a str) -> Option<(usize, Record<'a>)> {
        if matches!(self, Self::Begin) {
            let record;
            (*self, record) = begin(line);
            if record.is_some() {
                return record.map(|record| (start(line), record));
            }
        }
        match self {
            Self::Within(split) => split.next(line),
            Self::Begin | Self::End => None,
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
}

/// The record that is the whole line, if it is one.
fn begin(line: &str) -> (RecordCursor, Option<Record<'_>>) {
    let error = match Object::parse(line) {
        Ok(object) => return (RecordCursor::End, Some(Record::Object(object))),
        Err(error) => error,
    };
    match line.trim() {
        "" => (RecordCursor::End, None),
        trimmed => match whole_value(trimmed) {
            Some(value) => (RecordCursor::End, Some(Record::Irregular(Irregular::Value(value)))),
            None => (RecordCursor::Within(Split::new(line, &error)), None),
        },
    }
}

/// Where the text of a line begins, after white space.
fn start(line: &str) -> usize {
    line.len() - line.trim_start().len()
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
