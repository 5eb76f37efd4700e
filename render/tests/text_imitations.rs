//! Facts are values: no text of a log that imitates the words of a divider or of a picture makes one.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use foldline_agents::{DynExecutor, Registry};
use foldline_domain::NormalizedEntryType;
use foldline_render::html::Page;
use foldline_testkit::{Fold, SessionFold, run};
use serde_json::Value;

use crate::{
    captures,
    pictures::{GIF, with_pictures},
};

/// What executors and agents write where the conversation is divided, or in place of a picture.
const IMITATIONS: [&str; 7] = [
    "model: x",
    "Compaction: x",
    "context compacted",
    "Conversation compacted",
    "context truncated",
    "This session is being continued from a previous conversation that ran out of context.",
    "[image: image/gif, 23 bytes]",
];

/// Words in the place of an imitation.
const NEUTRAL: &str = "these are words like any other";

/// What the fold of a log has of each kind of facts.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    models: usize,
    compactions: usize,
    continuations: usize,
    /// The pictures, and those whose content is kept.
    pictures: (usize, usize),
}

fn counts(executor: &DynExecutor, log: &str) -> Counts {
    let mut counts = Counts::default();
    let fold = Fold::of(executor, log.as_bytes());
    for entry in fold.sessions.values().flat_map(SessionFold::entries) {
        let images = entry.metadata.as_ref().map_or(&[][..], |metadata| &metadata.images);
        counts.pictures.0 += images.len();
        counts.pictures.1 += images.iter().filter(|image| image.data.is_some()).count();
        match entry.entry_type {
            NormalizedEntryType::ModelChange { .. } => counts.models += 1,
            NormalizedEntryType::Compaction => counts.compactions += 1,
            NormalizedEntryType::Continuation => counts.continuations += 1,
            _ => {}
        }
    }
    counts
}

/// Calls `each` with the path of every string, also of JSON within strings.
fn walk(value: &mut Value, path: &str, each: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => {
            let inner = text.starts_with(['{', '[']).then(|| serde_json::from_str(text).ok());
            if let Some(mut inner @ (Value::Object(_) | Value::Array(_))) = inner.flatten() {
                walk(&mut inner, &format!("{path}:"), each);
                *text = inner.to_string();
            } else {
                each(path, text);
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| walk(item, &format!("{path}.*"), each));
        }
        Value::Object(fields) => {
            fields
                .iter_mut()
                .for_each(|(name, value)| walk(value, &format!("{path}.{name}"), each));
        }
        _ => {}
    }
}

/// Whether a string, at a path, is replaced.
type Chosen<'c> = dyn Fn(&str, &str) -> bool + 'c;

fn is_prose(text: &str) -> bool {
    text.contains(' ')
}

/// The kind of a record, with which the paths of its strings begin.
fn kind(record: &Value) -> String {
    let words = ["type", "subtype", "role", "method"].map(|name| record[name].as_str());
    words.into_iter().flatten().collect::<Vec<_>>().join("/")
}

/// The log with these words in place of the strings that are chosen.
fn planted(records: &[Value], words: &str, is_chosen: &Chosen<'_>) -> String {
    let mut log = String::new();
    for record in records {
        let mut record = record.clone();
        let kind = kind(&record);
        walk(&mut record, &kind, &mut |path, text| {
            if is_chosen(path, text) {
                *text = words.to_owned();
            }
        });
        log.push_str(&record.to_string());
        log.push('\n');
    }
    log
}

/// All texts of several words are given each imitation at once, in every record of every fixture; each field, in each
/// kind of record, alone, in the first fixture that has it: a text each imitation, and any other string one of them.
/// Other words in the same place have the same facts.
#[test]
fn no_text_imitates_a_fact() {
    for executor in Registry::builtin().iter() {
        let mut seen = BTreeSet::new();
        let logs = captures::fixtures(executor.format().name).into_iter();
        let mut logs: Vec<_> = logs.map(|path| (fs::read(&path).unwrap(), path)).collect();
        // Most fields are in a short fixture, too.
        logs.sort_by_key(|(log, _)| log.len());
        for (log, path) in &logs {
            let lines = with_pictures(&String::from_utf8_lossy(log));
            let records: Vec<Value> =
                lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            let check = |what: &str, imitations: &[&str], is_chosen: &Chosen<'_>| {
                let expected = counts(executor, &planted(&records, NEUTRAL, is_chosen));
                for words in imitations {
                    let found = counts(executor, &planted(&records, words, is_chosen));
                    assert_eq!(found, expected, "{}: {what}: {words}", path.display());
                }
            };
            check("all prose", &IMITATIONS, &|_, text| is_prose(text));
            let mut fields = BTreeMap::new();
            for record in &records {
                walk(&mut record.clone(), &kind(record), &mut |field, text| {
                    *fields.entry(field.to_owned()).or_insert(false) |= is_prose(text);
                });
            }
            for (number, (field, is_prose)) in fields.into_iter().enumerate() {
                if seen.insert(field.clone()) {
                    let one = number % IMITATIONS.len();
                    let imitations = if is_prose { &IMITATIONS } else { &IMITATIONS[one..=one] };
                    check(&field, imitations, &|path, _| path == field);
                }
            }
        }
    }
}

/// The page of a log of Droid, in which a system message is prose.
#[test]
fn prose_of_the_program_divides_no_page() {
    let droid = Registry::builtin().named("droid").cloned().unwrap();
    let message = |id: usize, text: &str| {
        let at = 1_760_000_001_000 + id;
        format!(
            r#"{{"type":"message","role":"system","id":"{id}","text":"{text}","timestamp":{at},"session_id":"s"}}"#
        ) + "\n"
    };
    let init = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Read"],"model":"m-1","timestamp":1760000000000}"#;
    let said: String = IMITATIONS.iter().enumerate().map(|(id, text)| message(id, text)).collect();
    let mut page = Page::default();
    for event in run::sourced_events(&droid, [format!("{init}\n{said}").as_bytes()]) {
        page.apply(&event.item);
    }
    page.end();
    let html = page.render();
    assert_eq!(html.matches("data-type=\"system_message\"").count(), IMITATIONS.len());
    assert!(!html.contains("data-mark=") && !html.contains("Model changes to"));
    assert!(!html.contains("class=\"image\""));
}

/// A prompt that imitates the placeholder of a picture in the result of the same record.
#[test]
fn a_prompt_gets_no_picture_of_a_result() {
    let claude = Registry::builtin().named("claude-session").cloned().unwrap();
    let head = |id: &str, kind: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{id}","sessionId":"s","message":{{"role":"{kind}","content":"#
        )
    };
    let image = format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/gif","data":"{GIF}"}}}}"#
    );
    let log = [
        head("a1", "assistant"),
        r#"[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/w/a.gif"}}]}}"#
            .into(),
        "\n".into(),
        head("u2", "user"),
        r#"[{"type":"text","text":"[image: image/gif, 23 bytes] is how it is written"},"#.into(),
        format!(r#"{{"type":"tool_result","tool_use_id":"t1","content":[{image}]}}]}}}}"#),
    ];
    let fold = Fold::of(&claude, log.concat().as_bytes());
    let entries = fold.sessions.values().flat_map(SessionFold::entries);
    let pictures = entries.map(|entry| {
        let images = entry.metadata.as_ref().map_or(0, |metadata| metadata.images.len());
        (entry.entry_type.name(), images)
    });
    assert_eq!(pictures.collect::<Vec<_>>(), [("tool_use", 1), ("user_message", 0)]);
}
