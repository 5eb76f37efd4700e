//! Laws 13 to 15: logs with unknown content, spelt otherwise, and repeated.

use std::{borrow::Cow, collections::BTreeSet};

use foldline::{
    laws::{caught, growth, same},
    position::{Located, Position},
    transduce::Reducer,
};
use foldline_agents::{
    AnyState, DynExecutor, SessionKeyOf, Sessions, SessionsState,
    wire::{Object, Record},
};
use foldline_domain::DomainEvent;
use foldline_json::{Raw, Scanner};
use serde_json::Value;

use super::{
    Law, Outcome, Place, Violation,
    account::{Difference, Leaf, name},
    records::{Reading, reading},
    texts::{ids, joined, record, texts, with_strings},
};
use crate::run::Fold;

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

/// The maximum number of records of a log that is repeated.
const RECORDS: usize = 32;

/// The law of a bounded state: a log that is repeated again and again, with other ids each time, does not let the stored
/// state grow, if nothing is open at its end.
///
/// An executor may remember a bounded number of ids, about a thousand, in order to recognise repeated records: see
/// [`growth`]. `Vacuous` if the log has more than 32 records, several sessions, or an open item
/// at its end.
///
/// # Errors
/// The sizes of the state, in bytes.
pub fn bounded_state(executor: &DynExecutor, log: &[u8]) -> Result<Outcome, Violation> {
    caught(Law::BoundedState, Place::Unknown, || {
        let texts = texts(log).into_iter().map(|(_, text)| text);
        let records: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        let names = |text: &String| {
            let record = record(Position::default(), text)?;
            executor.session_of(&record.item).map(Cow::into_owned)
        };
        let sessions: BTreeSet<String> = records.iter().filter_map(names).collect();
        if records.is_empty() || records.len() > RECORDS || sessions.len() > 1 {
            return Ok(Outcome::Vacuous("it needs a log of one session, of 1 to 32 records"));
        }
        let ids = ids(&records, &sessions);
        let (reducer, mut line) = (Sessions::new(executor), 0);
        let mut repeat = |mut state, repetition| {
            for text in &records {
                line += 1;
                let fresh = |id: &str| ids.contains(id).then(|| format!("{id}-{repetition:05}"));
                let text = with_strings(text, &fresh);
                let position = Position { line, offset: line };
                let Some(record) = record(position, &text) else { continue };
                state = reducer.reduce(state, record).0;
            }
            state
        };
        let size = |state: &_| foldline_json::to_string(state).unwrap_or_default().len();
        if is_open(&reducer, &repeat(reducer.init(), 0)) {
            return Ok(Outcome::Vacuous("something is open at the end of the log"));
        }
        growth(reducer.init(), repeat, size)?;
        Ok(Outcome::Checked)
    })
}

/// Whether the end of the log would end or add an item.
fn is_open(reducer: &Sessions<&DynExecutor>, state: &SessionsState<AnyState>) -> bool {
    let (_, events) = Reducer::<Located<Record<'_>>, _, _>::finish(reducer, state.clone());
    let is_item = |event: &Located<DomainEvent>| {
        !matches!(event.item, DomainEvent::SessionEnded | DomainEvent::Session(_))
    };
    events.iter().any(is_item)
}
