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

/// The texts of the objects of a log, in order. What is irregular is empty, and of no interest to these laws.
pub(super) fn texts(log: &[u8]) -> Vec<(Position, String)> {
    let mut texts = Vec::new();
    let mut keep = |line: Line<'_>| {
        read_inputs(line, &Records, |record| {
            let text = match &record.item {
                Record::Object(object) => {
                    report::object_of(&object.clone().rest()).get().to_owned()
                }
                Record::Irregular(_) => String::new(),
            };
            texts.push((record.position, text));
        });
    };
    let mut framer = LineFramer::default();
    framer.push(log, &mut keep);
    framer.finish(&mut keep);
    texts
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
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    replace_in(&mut value, replace);
    value.to_string()
}

fn replace_in(value: &mut Value, replace: &impl Fn(&str) -> Option<String>) -> bool {
    match value {
        Value::String(text) => {
            if let Some(new) = replace(text) {
                *text = new;
                return true;
            }
            let inner = text.trim_start().starts_with(['{', '[']);
            let inner = inner.then(|| serde_json::from_str::<Value>(text).ok()).flatten();
            let Some(mut inner) = inner else { return false };
            let is_changed = replace_in(&mut inner, replace);
            if is_changed {
                *text = inner.to_string();
            }
            is_changed
        }
        // Every element is visited.
        Value::Array(items) => {
            items.iter_mut().map(|item| replace_in(item, replace)).fold(false, |a, b| a | b)
        }
        Value::Object(fields) => {
            fields.values_mut().map(|value| replace_in(value, replace)).fold(false, |a, b| a | b)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The strings of a text, with the names of their fields, also those of the JSON within strings.
pub(super) fn strings(text: &str) -> Vec<(String, String)> {
    let mut strings = Vec::new();
    if let Ok(value) = serde_json::from_str(text) {
        collect(&value, "", &mut strings);
    }
    strings
}

fn collect(value: &Value, name: &str, strings: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => {
            strings.push((name.to_owned(), text.clone()));
            if text.trim_start().starts_with(['{', '['])
                && let Ok(inner) = serde_json::from_str(text)
            {
                collect(&inner, name, strings);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, name, strings)),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| collect(value, name, strings));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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
