//! [`RecordCursor`]: the records of a line, one after another, also of a line that is not one object: several objects,
//! truncated or interleaved ones, or no JSON at all.

use foldline_json::Raw;

use super::{
    object::Object,
    record::{Irregular, Record},
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

/// The maximum number of positions in a damaged line that are tried as the start of the next record.
const MAX_RESTARTS: usize = 64;

/// A line that is not one object, and the position of a reader within it. It borrows nothing, so that reading can be
/// interrupted.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    /// The start of the rest.
    at: usize,
    /// The end of the line without white space.
    end: usize,
    is_array: bool,
    restarts: usize,
    /// The reason why the line is not one object.
    error: String,
}

impl Split {
    /// The beginning of `line`, which is not one object because of `error`.
    fn new(line: &str, error: &serde_json::Error) -> Self {
        let trimmed = line.trim();
        let start = offset_of(line, trimmed);
        let is_array = is_array_of_objects(trimmed);
        Self {
            at: start + usize::from(is_array),
            end: start + trimmed.len(),
            is_array,
            restarts: MAX_RESTARTS,
            error: error.to_string(),
        }
    }

    /// The start of the next record of the same line.
    fn peek(&self, line: &str) -> Option<usize> {
        let rest = self.rest(line);
        (!rest.is_empty()).then(|| offset_of(line, rest))
    }

    /// The next record of the same line and its start.
    fn next<'a>(&mut self, line: &'a str) -> Option<(usize, Record<'a>)> {
        let rest = Some(self.rest(line)).filter(|rest| !rest.is_empty())?;
        let at = offset_of(line, rest);
        let (record, length) = match first_value(rest, self.is_array) {
            Some((value, length)) => (Record::from_value(value), length),
            None => {
                let (damaged, next) = rest.split_at(find_restart(rest, &mut self.restarts));
                (Record::Irregular(damage(damaged, next, &self.error)), damaged.len())
            }
        };
        self.at = at + length;
        Some((at, record))
    }

    fn rest<'a>(&self, line: &'a str) -> &'a str {
        skip_separator(line.get(self.at..self.end).unwrap_or_default(), self.is_array)
    }
}

/// The line as one value, if it is one and not an array of objects. A number followed by more is text.
fn whole_value(line: &str) -> Option<Raw<'_>> {
    (!is_array_of_objects(line)).then(|| serde_json::from_str(line).ok())?
}

fn is_array_of_objects(line: &str) -> bool {
    line.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'))
}

/// The text after a value. In an array, commas and the closing bracket are skipped.
fn skip_separator(rest: &str, is_array: bool) -> &str {
    let rest = rest.trim_start();
    if !is_array {
        return rest;
    }
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    if rest == "]" { "" } else { rest }
}

/// The value at the beginning of `text`, and its end; outside of an array, only an object.
fn first_value(text: &str, is_array: bool) -> Option<(Raw<'_>, usize)> {
    if !is_array && !text.starts_with('{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Raw<'_>>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

fn damage<'a>(damaged: &'a str, next: &str, error: &str) -> Irregular<'a> {
    if !damaged.starts_with(['{', '[']) {
        return Irregular::Text(damaged);
    }
    let error = match next {
        "" => error.to_owned(),
        _ => "the next record begins within it".to_owned(),
    };
    Irregular::Malformed { text: damaged, error }
}

/// The position of the first object that is whole and not a part of the damaged text; the end of the text
/// if there is none.
fn find_restart(damaged: &str, restarts: &mut usize) -> usize {
    let begins_json = damaged.starts_with(['{', '[']);
    let starts = damaged.match_indices("{\"").map(|(at, _)| at).filter(|at| *at > 0);
    let mut starts = starts.filter(|at| {
        let before = damaged[..*at].trim_end();
        let introduced = !begins_json && before.len() < *at;
        !introduced && !before.ends_with([':', ',', '[', '=', '('])
    });
    let found = starts.find(|at| {
        if *restarts == 0 {
            return false;
        }
        *restarts -= 1;
        first_value(&damaged[*at..], false).is_some_and(|(raw, _)| Object::parse(raw.get()).is_ok())
    });
    found.unwrap_or(damaged.len())
}

/// The offset of `part` in `whole`.
fn offset_of(whole: &str, part: &str) -> usize {
    part.as_ptr().addr() - whole.as_ptr().addr()
}
