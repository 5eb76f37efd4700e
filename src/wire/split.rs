//! Lines that are not one object: several objects, truncated or interleaved ones, or no JSON at all.

use crate::json::Raw;

use super::{Irregular, Object, Record};

/// The number of positions of a damaged line that are tried as the beginning of the next record.
const MAX_RESTARTS: usize = 64;

/// Reads the records of a trimmed line that is not one object.
pub(super) fn read_irregular<'a>(
    line: &'a str,
    error: &serde_json::Error,
    each: &mut impl FnMut(usize, Record<'a>),
) {
    if let Some(value) = whole_value(line) {
        each(0, Record::Irregular(Irregular::Value(value)));
        return;
    }
    let is_array = line.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'));
    let mut restarts = MAX_RESTARTS;
    let mut rest = if is_array { &line[1..] } else { line };
    while let Some(trimmed) = Some(skip_separator(rest, is_array)).filter(|rest| !rest.is_empty()) {
        let at = offset_of(line, trimmed);
        if let Some((value, end)) = first_value(trimmed, is_array) {
            each(at, Record::from_value(value));
            rest = &trimmed[end..];
            continue;
        }
        let (damaged, next) = trimmed.split_at(find_restart(trimmed, &mut restarts));
        each(at, Record::Irregular(damage(damaged, next, error)));
        rest = next;
    }
}

/// The line as one value, if it is one and not an array of objects. A number followed by more is text.
fn whole_value(line: &str) -> Option<Raw<'_>> {
    let array_of_objects =
        |line: &str| line.starts_with('[') && line[1..].trim_start().starts_with('{');
    (!array_of_objects(line)).then(|| serde_json::from_str(line).ok())?
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

fn damage<'a>(damaged: &'a str, next: &str, error: &serde_json::Error) -> Irregular<'a> {
    if !damaged.starts_with(['{', '[']) {
        return Irregular::Text(damaged);
    }
    let error = match next {
        "" => error.to_string(),
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

/// Where `part` lies within `whole`.
fn offset_of(whole: &str, part: &str) -> usize {
    part.as_ptr().addr() - whole.as_ptr().addr()
}
