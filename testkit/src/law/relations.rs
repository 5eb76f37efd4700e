//! The laws of unknown content and of spelling.

use std::collections::BTreeSet;

use foldline_agents::{
    DynExecutor,
    wire::{Object, Record},
};
use foldline_json::{Raw, Scanner};
use serde_json::Value;

use super::{
    Law, Outcome, Place, Violation,
    account::{Difference, Leaf, name},
    same::same,
    texts::{joined, texts},
    totality::{Reading, reading},
};
use crate::{fold::Fold, violation::caught};

/// The name of the unknown field and of the unknown type of record.
const UNKNOWN: &str = "x_of_a_later_release";

/// The maximum number of records of a log that are changed, spread evenly.
const CHANGED: usize = 16;

/// The law of unknown content: what a later release of the agent adds is reported and kept, and nothing else changes.
///
/// A further field of a known record gives a warning and a further field of an entry, or is kept in a diagnostic. A record
/// of an unknown type gives a warning and a diagnostic.
///
/// # Errors
/// The first record at which something else changes, or which is not reported.
pub fn unknown_content(executor: &DynExecutor, log: &[u8]) -> Result<Outcome, Violation> {
    caught(Law::UnknownContent, Place::Unknown, || {
        let records = texts(log);
        let known: Vec<_> = records.iter().filter(|(_, text)| is_known(executor, text)).collect();
        let all: Vec<&str> = records.iter().map(|(_, text)| text.as_str()).collect();
        let base = Fold::of(executor, joined(all.iter().copied()).as_bytes());
        for (position, text) in known.iter().step_by(known.len().div_ceil(CHANGED).max(1)) {
            let Some(index) = records.iter().position(|(other, _)| other == position) else {
                continue;
            };
            // A record that is repeated may be recognised by its text.
            if records.iter().filter(|(_, other)| other == text).count() > 1 {
                continue;
            }
            let field = format!("{},\"{UNKNOWN}\":{{\"new\":17}}}}", &text[..text.len() - 1]);
            let mut with_field = all.clone();
            with_field[index] = &field;
            let line = format!("{{\"type\":\"{UNKNOWN}\",\"new\":17}}");
            let mut with_record = all.clone();
            with_record.insert(index + 1, &line);
            for (what, texts) in [("field", with_field), ("record", with_record)] {
                let fold = Fold::of(executor, joined(texts).as_bytes());
                let difference = Difference::of(&base, &fold);
                if let Some(message) = problem(what, &difference) {
                    let violation =
                        Violation::new(Law::UnknownContent, Place::Line(position.line), message);
                    return Err(violation
                        .side("lost", &difference.removed)
                        .side("added", &difference.added));
                }
            }
        }
        Ok(if known.is_empty() { Outcome::Vacuous("no known record") } else { Outcome::Checked })
    })
}

fn is_known(executor: &DynExecutor, text: &str) -> bool {
    let Ok(object) = Object::parse(text) else { return false };
    !object.clone().rest().is_empty()
        && reading(executor, &Record::Object(object)).0 == Reading::Meant
}

fn problem(what: &str, difference: &Difference) -> Option<String> {
    let head = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
    let is_report = |path: &str| matches!(&*head(path), "diagnostic" | "warning");
    // An entry of the field alone has other leaves, too.
    let names = |value: &Value| value.as_str().is_some_and(|text| text.contains(UNKNOWN));
    let is_kept = |leaf: &&Leaf| leaf.0.contains(UNKNOWN) || names(&leaf.1);
    let keep = difference.added.iter().filter(is_kept);
    let keep: BTreeSet<_> = keep.map(|(path, _)| head(path)).collect();
    let is_other = |path: &str| !is_report(path) && !keep.contains(&head(path));
    let mut changed = difference.removed.iter().chain(&difference.added);
    if changed.any(|(path, _)| is_other(path)) {
        return Some(format!("an unknown {what} changes more than a report of it"));
    }
    difference.added.is_empty().then(|| format!("an unknown {what} is not reported"))
}

/// The law of spelling: the order of the fields of a record, white space between them and escapes in strings change nothing.
///
/// # Errors
/// The first part of the fold that differs. Raw text, in diagnostics and in arguments of unknown tools, is compared as JSON.
pub fn spelling(executor: &DynExecutor, log: &[u8]) -> Result<Outcome, Violation> {
    caught(Law::EscapedText, Place::Unknown, || {
        let records = texts(log);
        let known = |text: &str| is_known(executor, text);
        let respelt: Vec<String> = records
            .iter()
            .map(|(_, text)| match (known(text), Raw::parse(text)) {
                (true, Ok(raw)) => respell(raw).unwrap_or_else(|| text.clone()),
                _ => text.clone(),
            })
            .collect();
        let fold =
            |texts: &mut dyn Iterator<Item = &str>| Fold::of(executor, joined(texts).as_bytes());
        let before = fold(&mut records.iter().map(|(_, text)| text.as_str()));
        let after = fold(&mut respelt.iter().map(String::as_str));
        let Difference { removed, added } = Difference::of(&before, &after);
        let is_raw = |(path, value): &&Leaf| {
            let is_json = value.as_str().is_some_and(|text| text.contains(['{', '[', '"']));
            path.starts_with("diagnostic.") || path.starts_with("warning.") || is_json
        };
        let [removed, added] = [removed, added].map(|mut leaves| {
            leaves.retain(|leaf| !is_raw(&leaf));
            leaves
        });
        let message = "another spelling of the records gives another fold";
        same(
            Law::EscapedText,
            ["as it is", "respelt"],
            Place::Completion,
            message,
            &removed,
            &added,
        )?;
        Ok(if records.is_empty() { Outcome::Vacuous("no record") } else { Outcome::Checked })
    })
}

/// The same value with its fields in reverse order, white space, and an escape in each string. `None` if a field occurs
/// twice.
fn respell(raw: Raw<'_>) -> Option<String> {
    let text = raw.get();
    if let Some(body) = text.strip_prefix('"') {
        let first = body.chars().next().filter(char::is_ascii_alphanumeric);
        return Some(match first {
            Some(first) => format!("\"\\u{:04x}{}", u32::from(first), &body[1..]),
            None => text.to_owned(),
        });
    }
    if text.starts_with('{') {
        let (mut fields, mut names) = (Vec::new(), BTreeSet::new());
        Scanner::of(raw).object(|key, value| {
            let name = key.name()?.into_owned();
            let field = format!("{} : {}", foldline_json::literal(&name), respell(value)?);
            names.insert(name).then(|| fields.push(field))
        })?;
        // Fields whose names are data, such as files that were changed, have an order.
        if names.iter().all(|name| self::name(name) == name) {
            fields.reverse();
        }
        return Some(format!("{{ {} }}", fields.join(" ,\t")));
    }
    if text.starts_with('[') {
        let mut items = Vec::new();
        Scanner::of(raw).array(|value| {
            items.push(respell(value)?);
            Some(())
        })?;
        return Some(format!("[ {} ]", items.join(" , ")));
    }
    Some(text.to_owned())
}
