//! [`effects`]: what a change of a scalar does to the fold of its log.

use std::collections::{BTreeMap, BTreeSet};

use foldline_domain::NormalizedEntry;
use serde::Serialize;
use serde_json::Value;

use super::scalar::{Change, LARGE, MARKS, is_choice, join, name};
use crate::run::{Fold, SessionFold};

/// What happens to a scalar; nothing if it is dropped. As text, as in an account file:
///
/// - `user_message.content`: it is there, in one place; ` (within)` a longer text, ` (part)` of it, ` (twice)`, ` x1000`;
/// - `success -> command_run.status.status=success`: this value gives this one; `-> +user_message` such an entry;
/// - `decides`: another effect.
pub(in crate::law) type Effects = BTreeSet<String>;

/// A leaf of a fold.
pub(in crate::law) type Leaf = (String, Value);

/// The differences between two folds.
#[derive(Debug, Default)]
pub(in crate::law) struct Difference {
    pub(in crate::law) removed: Vec<Leaf>,
    pub(in crate::law) added: Vec<Leaf>,
}

/// The effects of a change of a scalar, by the folds of its log without and with the change.
pub(super) fn effects(change: &Change, without: &Fold, with: &Fold) -> Effects {
    let Difference { removed, added } = Difference::of(without, with);
    let mut effects = Effects::new();
    let mut carried = BTreeSet::new();
    let mut counts = BTreeMap::<String, usize>::new();
    let mut all = None;
    let mut before = BTreeMap::<&str, Vec<&Value>>::new();
    removed.iter().for_each(|(path, value)| before.entry(path).or_default().push(value));
    for (path, value) in &added {
        // A new report is about the change itself.
        let old = before.get(path.as_str());
        if is_report(path) && old.is_none() {
            continue;
        }
        let old = old.map_or(&[][..], Vec::as_slice);
        if let Some(mut how) = carries(change, old, value) {
            // The value of the log itself has to be there in the same way.
            let mut is_elsewhere = || {
                let all = all.get_or_insert_with(|| all_leaves(without));
                let there = all.iter().filter(|(other, _)| other == path);
                is_original(change, &how, &there.map(|(_, value)| value).collect::<Vec<_>>())
            };
            if !is_report(path) && !is_original(change, &how, old) && !is_elsewhere() {
                how += ALTERED;
            }
            carried.insert(path.as_str());
            *counts.entry(format!("{path}{how}")).or_default() += 1;
        }
    }
    for (effect, count) in counts {
        effects.insert(match count {
            1 => effect,
            2 => format!("{effect} (twice)"),
            _ => format!("{effect} (often)"),
        });
    }
    let is_other = |(path, _): &&Leaf| !carried.contains(path.as_str()) && !is_report(path);
    let lost: Vec<&Leaf> = removed.iter().filter(is_other).collect();
    let won: Vec<&Leaf> = added.iter().filter(is_other).collect();
    let is_reported = added.iter().any(|(path, _)| is_report(path));
    if lost.is_empty() && won.is_empty() {
        if effects.is_empty() && (is_reported || !removed.is_empty()) {
            effects.insert("checked".to_owned());
        }
        return effects;
    }
    if is_choice(&change.old) && effects.is_empty() {
        effects.extend(parts(&lost, &won).map(|part| format!("{} -> {part}", word(&change.old))));
        if change.new.is_boolean() {
            effects.extend(parts(&won, &lost).map(|part| format!("{} -> {part}", change.new)));
        }
    } else {
        effects.insert("decides".to_owned());
    }
    effects
}

/// The places where the value itself is, without a note; a time has a range, and a default.
pub(super) fn plain(effects: &Effects) -> impl Iterator<Item = &String> {
    let is_time =
        |place: &str| ["timestamp", "_at", "since"].iter().any(|end| place.ends_with(end));
    effects.iter().filter(move |effect| {
        effect.contains('.') && !effect.contains(' ') && !is_time(effect.as_str())
    })
}

/// Notes the places in which [`LARGE`] becomes another number, although a smaller one is there as it is.
pub(super) fn rounded(effects: &Effects, without: &Fold, with: &Fold) -> Effects {
    let Difference { added, .. } = Difference::of(without, with);
    let is_other = |place: &&String| {
        let mut there = added.iter().filter(|(path, _)| path == *place);
        there.any(|(_, leaf)| leaf.is_number() && *leaf != LARGE)
    };
    plain(effects).filter(is_other).map(|place| format!("{place} (rounded)")).collect()
}

/// Notes the places that have a value although the field is absent.
pub(super) fn defaults(effects: &Effects, without: &Fold, with: &Fold) -> Effects {
    let Difference { removed, added } = Difference::of(without, with);
    let is_in = |leaves: &[Leaf], place: &str| leaves.iter().any(|(path, _)| path == place);
    let is_there = |place: &&String| !is_in(&removed, place) || is_in(&added, place);
    plain(effects).filter(is_there).map(|place| format!("{place} (default)")).collect()
}

/// Whether these marks, of the elements of a list, are in their order.
pub(super) fn in_order(fold: &Fold, marks: &[String]) -> bool {
    fold.sessions.values().all(|session| {
        let text = serde_json::to_string(session.entries()).unwrap_or_default();
        marks.iter().filter_map(|mark| text.find(mark)).is_sorted()
    })
}

/// The effects of a repetition of a record.
pub(super) fn repetition(without: &Fold, with: &Fold) -> Effects {
    let Difference { removed, added } = Difference::of(without, with);
    let added = added.iter().map(|(path, _)| format!("+{}", head(path)));
    let changed = removed.iter().map(|(path, _)| format!("changes {}", head(path)));
    let effects: Effects = added.chain(changed).collect();
    if effects.is_empty() { Effects::from(["nothing".to_owned()]) } else { effects }
}

/// Marks a value that is there in another form than a changed one.
const ALTERED: &str = " (altered)";

/// Whether one of these leaves, of the log as it is, has the original value as a changed one is there.
fn is_original(change: &Change, how: &str, leaves: &[&Value]) -> bool {
    let text = |leaf: &Value| leaf.as_str().map(str::to_owned);
    let number = |leaf: &Value| leaf.as_f64();
    match (how, change.number, &change.old) {
        ("", None, Value::Bool(_)) => true,
        ("", None, old) => leaves.contains(&old),
        ("", Some((new, difference)), _) => {
            let old = new - difference;
            let is_old = |leaf: &&Value| number(leaf).is_some_and(|leaf| leaf == old);
            leaves.iter().any(|leaf| is_old(leaf) || text(leaf) == text(&change.old))
        }
        (" (within)", None, Value::String(old)) => {
            leaves.iter().any(|leaf| text(leaf).is_some_and(|leaf| leaf.contains(old)))
        }
        (_, Some((new, difference)), _) if how.starts_with(" x") && !how.starts_with(" x-") => {
            let factor: f64 = how[2..].parse().unwrap_or(1.0);
            let wanted = (new - difference) * factor;
            let is_wanted = |leaf: f64| (leaf - wanted).abs() <= 0.5 + wanted.abs() * 1e-9;
            leaves.iter().any(|leaf| number(leaf).is_some_and(is_wanted))
        }
        _ => true,
    }
}

/// How a leaf carries the new value; `None` if it does not.
fn carries(change: &Change, old: &[&Value], leaf: &Value) -> Option<String> {
    match (leaf, change.number) {
        (Value::Number(new), Some((wanted, difference))) => {
            let new = new.as_f64()?;
            if new == wanted {
                return Some(String::new());
            }
            let mut old = old.iter().filter_map(|old| old.as_f64());
            old.find_map(|old| factor((new - old) / difference))
        }
        (Value::String(text), _) => {
            let new = match &change.new {
                Value::String(new) => new.clone(),
                other => other.to_string(),
            };
            if *text == new {
                return Some(String::new());
            }
            let has_mark =
                || change.number.is_none() && MARKS.iter().any(|mark| text.contains(mark));
            match text.contains(&new) && !change.new.is_boolean() {
                true => Some(" (within)".to_owned()),
                false => has_mark().then(|| " (part)".to_owned()),
            }
        }
        (Value::Bool(_), _) if change.new.is_boolean() => (*leaf == change.new).then(String::new),
        _ => None,
    }
}

/// How a difference of numbers depends on the difference in the record: a sum with other numbers, negated, or another unit.
fn factor(ratio: f64) -> Option<String> {
    let nearly = |wanted: f64| (ratio - wanted).abs() <= wanted.abs() * 1e-3;
    if nearly(1.0) {
        return Some(" (sum)".to_owned());
    }
    let factors = [-1.0, 10.0, 100.0, 1e3, 1e6, 1e9, 0.1, 0.01, 1e-3, 1e-6, 1e-9, 2.0, -1e3];
    factors.into_iter().find(|wanted| nearly(*wanted)).map(|factor| format!(" x{factor}"))
}

/// What a value gives that another one does not: values of leaves, or entries.
fn parts(lost: &[&Leaf], won: &[&Leaf]) -> impl Iterator<Item = String> {
    let is_in = |leaves: &[&Leaf], path: &str| leaves.iter().any(|(other, _)| other == path);
    let (mut values, mut heads) = (BTreeSet::new(), BTreeSet::new());
    for (path, value) in lost {
        if is_in(won, path) {
            let shown = if is_choice(value) { word(value) } else { "..".to_owned() };
            values.insert(format!("{path}={shown}"));
        } else {
            heads.insert(format!("+{}", head(path)));
        }
    }
    if lost.is_empty() {
        heads.extend(won.iter().map(|(path, _)| format!("no {}", head(path))));
    }
    if heads.is_empty() { values } else { heads }.into_iter()
}

fn head(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

fn word(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

/// Whether a leaf belongs to a report of something unexpected.
fn is_report(path: &str) -> bool {
    matches!(head(path), "diagnostic" | "warning")
}

impl Difference {
    pub(in crate::law) fn of(without: &Fold, with: &Fold) -> Self {
        let empty = SessionFold::default();
        let keys: BTreeSet<_> = without.sessions.keys().chain(with.sessions.keys()).collect();
        let mut count = BTreeMap::<(String, String), (i64, Value)>::new();
        for key in keys {
            let of = |fold: &'_ Fold| fold.sessions.get(key).cloned();
            let (one, two) = (of(without), of(with));
            let (one, two) = (one.as_ref().unwrap_or(&empty), two.as_ref().unwrap_or(&empty));
            for (fold, other, sign) in [(one, two, -1), (two, one, 1)] {
                for (path, value) in leaves(fold, other) {
                    let leaf = count.entry((path, value.to_string())).or_insert((0, value));
                    leaf.0 += sign;
                }
            }
        }
        let mut difference = Self::default();
        for ((path, _), (count, value)) in count {
            let leaves = if count < 0 { &mut difference.removed } else { &mut difference.added };
            let times = usize::try_from(count.unsigned_abs()).unwrap_or_default();
            leaves.extend(std::iter::repeat_n((path, value), times));
        }
        difference
    }
}

/// The leaves of all sessions.
fn all_leaves(fold: &Fold) -> Vec<Leaf> {
    fold.sessions.values().flat_map(|session| leaves(session, &SessionFold::default())).collect()
}

/// The leaves of a fold, except what both have at their beginnings and ends.
fn leaves(fold: &SessionFold, other: &SessionFold) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    for entry in differing(fold.entries(), other.entries()) {
        entry_leaves(entry, &mut leaves);
    }
    let lists = [
        ("session", &fold.facts, &other.facts),
        ("usage", &fold.usage, &other.usage),
        ("warning", &fold.warnings, &other.warnings),
    ];
    for (head, events, others) in lists {
        for event in differing(events, others) {
            add_data(event, head, &mut leaves);
        }
    }
    leaves
}

fn differing<'l, T: PartialEq>(list: &'l [T], other: &[T]) -> &'l [T] {
    let same = |(one, two): &(&T, &T)| one == two;
    let head = list.iter().zip(other).take_while(same).count();
    let (list, other) = (&list[head..], &other[head..]);
    let tail = list.iter().rev().zip(other.iter().rev()).take_while(same).count();
    &list[..list.len() - tail]
}

fn entry_leaves(entry: &NormalizedEntry, leaves: &mut Vec<Leaf>) {
    let Ok(mut value) = serde_json::to_value(entry) else { return };
    let Some(mut kind) = value.get_mut("entry_type").map(Value::take) else { return };
    let take = |of: &mut Value, name: &str| {
        of.as_object_mut().and_then(|fields| fields.remove(name)).unwrap_or_default()
    };
    let mut action = take(&mut kind, "action_type");
    let head = match take(&mut action, "action") {
        Value::Null => take(&mut kind, "type"),
        action => action,
    };
    let head = word(&head);
    if let Some(fields) = kind.as_object_mut() {
        fields.remove("type");
    }
    for part in [&value, &kind, &action] {
        walk(part, &head, leaves);
    }
}

/// The fields of an event, whose data is nested for usage.
fn add_data(event: &impl Serialize, head: &str, leaves: &mut Vec<Leaf>) {
    let Ok(event) = serde_json::to_value(event) else { return };
    let mut data = event["data"].clone();
    let nested = data.as_object_mut().and_then(|fields| fields.remove("usage"));
    nested.iter().chain([&data]).for_each(|part| walk(part, head, leaves));
}

fn walk(value: &Value, path: &str, leaves: &mut Vec<Leaf>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(field, value)| walk(value, &join(path, name(field)), leaves));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, &join(path, "*"), leaves)),
        Value::Null => {}
        scalar => leaves.push((path.to_owned(), scalar.clone())),
    }
}
