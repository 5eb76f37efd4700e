//! [`RecordCursor`]: the records of a line, one after another.

use super::{
    object::Object,
    record::{Irregular, Record},
    split::{Split, whole_value},
};

/// The position of a reader within a line. It borrows nothing, so that reading can be interrupted.
///
/// A line that is one object costs one scan.
#[derive(Clone, Debug, Default)]
pub(crate) enum RecordCursor {
    /// Nothing.
    #[default]
    Begin,
    /// A part of a line that is not one object.
    Within(Split),
    /// The whole line.
    End,
}

impl RecordCursor {
    /// The start of the next record of the same line; `None` at the end of the line.
    #[allow(dead_code, reason = "what reads a line in parts is in a layer above")]
    pub(crate) fn peek(&self, line: &str) -> Option<usize> {
        match self {
            Self::Begin => Some(start(line)).filter(|start| *start < line.len()),
            Self::Within(split) => split.peek(line),
            Self::End => None,
        }
    }

    /// The record and its start, if the whole line is an object.
    #[allow(dead_code, reason = "what parses lines ahead is in a layer above")]
    pub(crate) fn object(line: &str) -> Option<(usize, Record<'_>)> {
        Some((start(line), Record::Object(Object::parse(line).ok()?)))
    }

    /// The next record of the same line and its start.
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
    /// Reads every record of a line with its start in bytes.
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

/// The record, if the whole line is one.
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

/// The start of the text of a line, after white space.
fn start(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
