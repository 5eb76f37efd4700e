//! Variants of logs as a later release of the agent, or a damaged one, could have written them.

use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Map, Value};

use super::{
    log::{LogBytes, disturbed},
    value::json,
};

/// The maximum number of lines taken from a log: any consecutive ones.
const LINES: usize = 64;

/// One change to a log.
#[derive(Clone, Debug)]
enum Mutation {
    /// A change of one of the values of a record.
    Record(Index, Index, Edit),
    /// A line is missing.
    Drop(Index),
    /// A line is repeated at another position.
    Repeat(Index, Index),
    /// A line is moved.
    Move(Index, Index),
    /// The second part of the log is interleaved with the first, line by line.
    Interleave(Index),
}

/// A change of one value of a record, or of its field.
#[derive(Clone, Debug)]
enum Edit {
    /// The field is renamed.
    Rename,
    /// The field, or the element, is missing.
    Delete,
    /// The object gets an additional field; another value becomes an object with one.
    Add(String),
    /// The value is replaced.
    Replace(String),
    /// A string is truncated; any other value becomes a string.
    Cut(Index),
    /// The value is the only element of an array.
    Wrap,
}

/// Unseen variants of `log`, for an executor's property tests. No generator has to be written for the format: the log
/// itself shows what its records look like.
///
/// Fields are renamed, missing, new, of another type, truncated; lines are missing, repeated, moved, interleaved; in
/// addition, the log is [`disturbed`]. Some 64 lines are taken of a long log.
///
/// ```
/// use foldline_agents::droid::Droid;
/// use foldline_testkit::{Law, generate, law};
/// use proptest::test_runner::TestRunner;
///
/// let log = br#"{"type":"message","role":"user","id":"m1","text":"hi","timestamp":1}"#;
/// TestRunner::default().run(&generate::mutated(log), |log| {
///     law::Every::of(Droid).without(&Law::OF_REGULAR_LOGS).check(&log)?;
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It cannot be foreseen what an executor does with an unfamiliar record; it still has to account for each. The laws about
/// the content of a log ([`Law::OF_REGULAR_LOGS`](crate::Law::OF_REGULAR_LOGS)) are therefore omitted.
pub fn mutated(log: &[u8]) -> BoxedStrategy<LogBytes> {
    let text = String::from_utf8_lossy(log);
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let mutations = vec(mutation(), 0..6);
    let lines = (any::<Index>(), mutations).prop_map(move |(begin, mutations)| {
        let begin = begin.index(lines.len().saturating_sub(LINES) + 1);
        let mut lines: Vec<_> = lines.iter().skip(begin).take(LINES).cloned().collect();
        mutations.iter().for_each(|mutation| apply(&mut lines, mutation));
        lines
    });
    disturbed(lines)
}

fn mutation() -> BoxedStrategy<Mutation> {
    let place = any::<Index>;
    let edit = prop_oneof![
        2 => Just(Edit::Rename),
        2 => Just(Edit::Delete),
        1 => json().prop_map(Edit::Add),
        4 => json().prop_map(Edit::Replace),
        1 => place().prop_map(Edit::Cut),
        1 => Just(Edit::Wrap),
    ];
    prop_oneof![
        8 => (place(), place(), edit).prop_map(|(line, at, edit)| Mutation::Record(line, at, edit)),
        1 => place().prop_map(Mutation::Drop),
        1 => (place(), place()).prop_map(|(line, to)| Mutation::Repeat(line, to)),
        1 => (place(), place()).prop_map(|(line, to)| Mutation::Move(line, to)),
        1 => place().prop_map(Mutation::Interleave),
    ]
    .boxed()
}

fn apply(lines: &mut Vec<String>, mutation: &Mutation) {
    if lines.is_empty() {
        return;
    }
    let count = lines.len();
    match mutation {
        Mutation::Record(line, at, edit) => {
            let line = &mut lines[line.index(count)];
            if let Ok(mut record) = serde_json::from_str(line) {
                change(&mut record, *at, edit);
                *line = record.to_string();
            }
        }
        Mutation::Drop(line) => drop(lines.remove(line.index(count))),
        Mutation::Repeat(line, to) => {
            lines.insert(to.index(count), lines[line.index(count)].clone());
        }
        Mutation::Move(line, to) => {
            let line = lines.remove(line.index(count));
            lines.insert(to.index(count), line);
        }
        Mutation::Interleave(at) => {
            let second = lines.split_off(at.index(count));
            let (mut one, mut two) = (std::mem::take(lines).into_iter(), second.into_iter());
            while one.len() + two.len() > 0 {
                lines.extend(one.next().into_iter().chain(two.next()));
            }
        }
    }
}

/// Changes one of the values of a record.
fn change(record: &mut Value, at: Index, edit: &Edit) {
    let paths = paths(record);
    let Some(path) = paths.get(at.index(paths.len().max(1))) else { return };
    let parse = |json: &str| serde_json::from_str(json).unwrap_or_default();
    match edit {
        Edit::Delete => drop(take(record, path)),
        Edit::Rename => {
            let Some((parent, name)) = path.rsplit_once('/') else { return };
            let Some(value) = take(record, path) else { return };
            let name = format!("{name}_renamed");
            if let Some(Value::Object(fields)) = record.pointer_mut(parent) {
                fields.insert(name, value);
            }
        }
        Edit::Add(json) => {
            let Some(value) = record.pointer_mut(path) else { return };
            if !value.is_object() {
                *value = Value::Object(Map::new());
            }
            value["x_added_by_a_release"] = parse(json);
        }
        Edit::Replace(json) => {
            if let Some(value) = record.pointer_mut(path) {
                *value = parse(json);
            }
        }
        Edit::Cut(at) => {
            let Some(value) = record.pointer_mut(path) else { return };
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let end = at.index(text.chars().count() + 1);
            *value = text.chars().take(end).collect::<String>().into();
        }
        Edit::Wrap => {
            if let Some(value) = record.pointer_mut(path) {
                *value = Value::Array(vec![value.take()]);
            }
        }
    }
}

/// JSON pointers to every value within a record.
fn paths(record: &Value) -> Vec<String> {
    fn walk(value: &Value, path: &str, paths: &mut Vec<String>) {
        let mut within = |name: &str, value: &Value| {
            let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
            walk(value, &path, paths);
            paths.push(path);
        };
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| within(name, value)),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(n, item)| within(&n.to_string(), item));
            }
            _ => {}
        }
    }
    let mut paths = Vec::new();
    walk(record, "", &mut paths);
    paths
}

/// Removes a field or an element.
fn take(record: &mut Value, path: &str) -> Option<Value> {
    let (parent, name) = path.rsplit_once('/')?;
    match record.pointer_mut(parent)? {
        Value::Object(fields) => fields.remove(&name.replace("~1", "/").replace("~0", "~")),
        Value::Array(items) => {
            let at = name.parse().ok().filter(|at| *at < items.len())?;
            Some(items.remove(at))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_value_can_be_changed() {
        let record = json!({ "a/b": [1, { "c": "text" }], "~": null });
        let paths = paths(&record);
        assert_eq!(paths, ["/a~1b/0", "/a~1b/1/c", "/a~1b/1", "/a~1b", "/~0"]);
        for path in &paths {
            let mut changed = record.clone();
            assert_eq!(take(&mut changed, path).as_ref(), record.pointer(path), "{path}");
            assert_ne!(changed, record, "{path}");
        }
    }
}
