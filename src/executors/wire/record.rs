//! [`Record`]: what one place of a log holds, before any agent's reading of it.

use std::fmt;

use serde_json::value::RawValue;

use super::{Object, value};

/// What one place of a log holds.
#[derive(Clone, Debug)]
pub enum Record<'a> {
    /// A JSON object: what every format here is made of.
    Object(Object<'a>),
    /// Anything else. Real logs hold other things too.
    Irregular(Irregular<'a>),
}

/// What stands in a log where an object should.
#[derive(Clone, Debug)]
pub enum Irregular<'a> {
    /// JSON, but no object.
    Value(&'a RawValue),
    /// No JSON at all: a line for people.
    Text(&'a str),
    /// Begins like JSON and is not: torn, or damaged.
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
    /// A line longer than the limit, which was not kept.
    TooLong(TooLong<'a>),
}

/// What is known of a line that was too long to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong<'a> {
    /// Its beginning.
    pub head: &'a str,
    /// Its length in bytes, without the line end.
    pub bytes: u64,
}

impl fmt::Display for Irregular<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(_) => f.write_str("a JSON value that is no object"),
            Self::Text(_) => f.write_str("a line of plain text where the format has only JSON"),
            Self::Malformed { error, .. } => write!(f, "not JSON: {error}"),
            Self::InvalidUtf8 { at } => write!(f, "not UTF-8, from byte {at} of the line on"),
            Self::TooLong(line) => {
                write!(f, "a line of {} bytes, longer than the limit", line.bytes)
            }
        }
    }
}

/// How many places of a damaged line are tried as the beginning of the next record.
const MAX_RESTARTS: usize = 64;

impl<'a> Record<'a> {
    /// Reads every record of a line, with the byte at which each begins.
    ///
    /// A line that is one object costs one scan. Otherwise several objects glued together, and an
    /// array that holds them, are taken apart, and after a damaged part the next record is found
    /// again.
    pub fn read(line: &'a str, mut each: impl FnMut(usize, Record<'a>)) {
        let start = line.len() - line.trim_start().len();
        match Object::parse(line) {
            Ok(object) => each(start, Record::Object(object)),
            Err(_) if line.trim().is_empty() => {}
            Err(error) => read_irregular(line, &error, &mut each),
        }
    }

    fn from_value(raw: &'a RawValue) -> Self {
        match Object::parse(raw.get()) {
            Ok(object) => Record::Object(object),
            Err(_) => Record::Irregular(Irregular::Value(raw)),
        }
    }
}

fn read_irregular<'a>(
    line: &'a str,
    error: &serde_json::Error,
    each: &mut impl FnMut(usize, Record<'a>),
) {
    let trimmed = line.trim();
    let start = offset_of(line, trimmed);
    if !trimmed.starts_with(['{', '[']) {
        let value = serde_json::from_str(trimmed);
        each(start, Record::Irregular(value.map_or(Irregular::Text(trimmed), Irregular::Value)));
        return;
    }
    if let Ok(raw) = serde_json::from_str::<&RawValue>(trimmed) {
        // A whole run as one array.
        let elements = value::parse::<Vec<&RawValue>>(raw).unwrap_or_default();
        if elements.is_empty() {
            each(start, Record::Irregular(Irregular::Value(raw)));
        }
        for element in elements {
            each(offset_of(line, element.get()), Record::from_value(element));
        }
        return;
    }
    let mut values = serde_json::Deserializer::from_str(trimmed).into_iter::<&RawValue>();
    let mut read_to = 0;
    while let Some(Ok(raw)) = values.next() {
        if !raw.get().starts_with('{') {
            break;
        }
        read_to = values.byte_offset();
        each(offset_of(line, raw.get()), Record::from_value(raw));
    }
    let damaged = trimmed[read_to..].trim_start();
    if damaged.is_empty() {
        return;
    }
    match find_restart(damaged) {
        Some((at, object)) => {
            let (text, error) = (&damaged[..at], "the next record begins within it".to_owned());
            each(offset_of(line, text), Record::Irregular(Irregular::Malformed { text, error }));
            each(offset_of(line, damaged) + at, Record::Object(object));
        }
        None => {
            let torn = Irregular::Malformed { text: damaged, error: error.to_string() };
            each(offset_of(line, damaged), Record::Irregular(torn));
        }
    }
}

/// The first object that reaches to the end of a damaged text and is not nested in what is damaged.
fn find_restart(damaged: &str) -> Option<(usize, Object<'_>)> {
    let starts = damaged.match_indices("{\"").skip(1).take(MAX_RESTARTS);
    starts.map(|(at, _)| at).find_map(|at| {
        let before = damaged[..at].trim_end();
        let nested = before.ends_with([':', ',', '[']);
        let object = if nested { None } else { Object::parse(&damaged[at..]).ok() }?;
        Some((at, object))
    })
}

/// Where `part` lies within `whole`.
fn offset_of(whole: &str, part: &str) -> usize {
    part.as_ptr().addr() - whole.as_ptr().addr()
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
    }
}
