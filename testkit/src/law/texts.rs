//! The records of a log as texts, which laws change.

use std::collections::BTreeSet;

use foldline::{
    position::{Located, Position},
    processor::{Line, LineFramer, read_inputs},
};
use foldline_agents::{
    Records, report,
    wire::{Object, Record},
};
use serde_json::Value;

use crate::generate::each_string;

/// The texts of the objects of a log, in order. What is irregular is empty, and of no interest to these laws.
pub(super) fn texts(log: &[u8]) -> Vec<(Position, String)> {
    let mut texts = Vec::new();
    each_line(log, |line| {
        read_inputs(line, &Records, |record| {
            let fields = record.item.object().map(|object| object.clone().rest());
            let text = fields.map(|fields| report::object_of(&fields).into_string());
            texts.push((record.position, text.unwrap_or_default()));
        });
    });
    texts
}

/// The lines of a log.
pub(super) fn each_line(log: &[u8], mut each: impl FnMut(Line<'_>)) {
    let mut framer = LineFramer::default();
    framer.push(log, &mut each);
    framer.finish(&mut each);
}

/// The record of a text; `None` if it is no object.
pub(super) fn record(position: Position, text: &str) -> Option<Located<Record<'_>>> {
    let object = Object::parse(text).ok()?;
    Some(Located::new(position, Record::Object(object)))
}

/// A log of these records.
pub(super) fn joined<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let lines = texts.into_iter().filter(|text| !text.is_empty());
    lines.flat_map(|text| [text, "\n"]).collect()
}

/// The text with each of its strings replaced, also those of the JSON within strings. `None` leaves a string as it is.
pub(super) fn with_strings(text: &str, replace: &impl Fn(&str) -> Option<String>) -> String {
    let Ok(value) = serde_json::from_str(text) else { return text.to_owned() };
    replaced(value, replace).0.to_string()
}

fn replaced(mut value: Value, replace: &impl Fn(&str) -> Option<String>) -> (Value, bool) {
    let mut is_changed = false;
    each_string(&mut value, "", &mut |_, text| {
        let new = replace(text).or_else(|| {
            let (inner, is_changed) = replaced(inner(text)?, replace);
            is_changed.then(|| inner.to_string())
        });
        is_changed |= new.is_some();
        new.into_iter().for_each(|new| *text = new);
    });
    (value, is_changed)
}

/// The text with each of its numbers replaced by 0, also those in strings.
pub(super) fn without_numbers(text: &str) -> String {
    let Ok(value) = serde_json::from_str(text) else { return text.to_owned() };
    zeroed(value).to_string()
}

fn zeroed(value: Value) -> Value {
    match value {
        Value::Number(_) => Value::from(0),
        Value::String(text) if text.parse::<f64>().is_ok() => Value::from("0"),
        Value::String(text) => {
            Value::String(inner(&text).map_or(text, |value| zeroed(value).to_string()))
        }
        Value::Array(items) => items.into_iter().map(zeroed).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, zeroed(value))).collect()
        }
        Value::Null | Value::Bool(_) => value,
    }
}

/// The strings of a text, with the names of their fields, also those of the JSON within strings.
pub(super) fn strings(text: &str) -> Vec<(String, String)> {
    let mut strings = Vec::new();
    if let Ok(value) = serde_json::from_str(text) {
        collect(value, "", &mut strings);
    }
    strings
}

fn collect(mut value: Value, name: &str, strings: &mut Vec<(String, String)>) {
    each_string(&mut value, name, &mut |name, text| {
        strings.push((name.to_owned(), text.clone()));
        if let Some(inner) = inner(text) {
            collect(inner, name, strings);
        }
    });
}

/// The JSON within a string.
fn inner(text: &str) -> Option<Value> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    is_json.then(|| serde_json::from_str(text).ok()).flatten()
}

/// The values of fields that are ids by their name and have digits, except the names of these sessions.
pub(super) fn ids(texts: &[String], sessions: &BTreeSet<String>) -> BTreeSet<String> {
    let is_id = |name: &str| {
        let name = name.to_lowercase();
        let names = ["id", "ids", "uuid"];
        names.iter().any(|end| name.ends_with(end))
            && !name.contains("model")
            && !name.contains("session")
    };
    let all = texts.iter().flat_map(|text| strings(text));
    let ids = all.filter(|(name, id)| is_id(name) && id.contains(|c: char| c.is_ascii_digit()));
    ids.map(|(_, id)| id).filter(|id| !sessions.contains(id)).collect()
}
