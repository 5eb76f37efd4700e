//! Variants of logs with other values, and streams of several sessions.

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::Value;

use super::{log::LogBytes, value::each_string};

/// `log` with other texts: of no byte, of one, of 4 KiB, with several bytes a character, with escapes. Short words, times,
/// and texts that occur several times, such as ids, stay.
///
/// A property test of [`law::every`](crate::law::every) on it finds executors that depend on the length or the
/// characters of a text. It shrinks to few replaced texts.
///
/// ```
/// use foldline_testkit::generate;
/// use proptest::{strategy::{Strategy, ValueTree}, test_runner::TestRunner};
///
/// let log = br#"{"type":"say","id":"call 1","text":"two words"}"#;
/// let marked = generate::marked(log).new_tree(&mut TestRunner::deterministic())?.current();
/// assert!(String::from_utf8_lossy(&marked).starts_with(r#"{"id":"#));
/// # Ok::<(), proptest::test_runner::Reason>(())
/// ```
pub fn marked(log: &[u8]) -> BoxedStrategy<LogBytes> {
    let records: Vec<Value> = String::from_utf8_lossy(log)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let mut texts = BTreeMap::<String, usize>::new();
    for mut record in records.iter().cloned() {
        each_string(&mut record, "", &mut |_, text| {
            if is_text(text) {
                *texts.entry(text.clone()).or_default() += 1;
            }
        });
    }
    // A text that occurs several times may be an id, which only others of its kind replace.
    let texts: Vec<String> =
        texts.into_iter().filter(|(_, times)| *times == 1).map(|(text, _)| text).collect();
    vec(prop_oneof![3 => Just(None), 1 => other().prop_map(Some)], texts.len())
        .prop_map(move |others| {
            let replaced = texts.iter().zip(others);
            let replaced: BTreeMap<&str, String> =
                replaced.filter_map(|(text, other)| Some((text.as_str(), other?))).collect();
            let mut log = String::new();
            for record in &records {
                let mut record = record.clone();
                each_string(&mut record, "", &mut |_, text| {
                    if let Some(other) = replaced.get(text.as_str()) {
                        text.clone_from(other);
                    }
                });
                log += &format!("{record}\n");
            }
            LogBytes(log.into_bytes())
        })
        .boxed()
}

/// Another text.
fn other() -> BoxedStrategy<String> {
    let spelled =
        select(vec!["", "x", "é漢字🦀", "a\"b\\c/d\te", "one\ntwo\r\nthree", "{\"a\":[1]}"]);
    let number = any::<u16>();
    // Each is unique, so that ids stay different.
    let unique = |(text, number): (String, u16)| {
        if text.is_empty() { text } else { format!("{text}{number}") }
    };
    let long = number.prop_map(|number| format!("{number} {}", "long ".repeat(820)));
    prop_oneof![4 => (spelled.prop_map(str::to_owned), number).prop_map(unique), 1 => long].boxed()
}

/// Whether a text may be replaced: it has several words, or digits, or is long.
fn is_text(text: &str) -> bool {
    let is_time = text.parse::<jiff::Timestamp>().is_ok();
    let is_word = |c: char| !c.is_whitespace() && !c.is_ascii_digit();
    !is_time && (text.len() > 32 || !text.chars().all(is_word))
}

/// Two copies of `log` in one stream, in any order that keeps the order of each: its session, called `session` in the log,
/// and the same under another name. All other ids are those of both.
///
/// ```
/// use foldline_testkit::generate;
/// use proptest::{strategy::{Strategy, ValueTree}, test_runner::TestRunner};
///
/// let log = "{\"session\":\"s-1\",\"text\":\"hi\"}\n";
/// let both = generate::sessions(log.as_bytes(), "s-1").new_tree(&mut TestRunner::deterministic())?.current();
/// assert_eq!(both.iter().filter(|byte| **byte == b'\n').count(), 2);
/// # Ok::<(), proptest::test_runner::Reason>(())
/// ```
pub fn sessions(log: &[u8], session: &str) -> BoxedStrategy<LogBytes> {
    let log = String::from_utf8_lossy(log).into_owned();
    let copy = log.replace(&format!("\"{session}\""), &format!("\"{session}-2\""));
    let count = log.lines().count();
    vec(any::<bool>(), 2 * count)
        .prop_map(move |turns| {
            let (mut one, mut two) = (log.lines(), copy.lines());
            let mut mixed = String::new();
            for is_first in turns {
                let line = if is_first { one.next() } else { two.next() };
                mixed.extend(line.into_iter().flat_map(|line| [line, "\n"]));
            }
            mixed.extend(one.chain(two).flat_map(|line| [line, "\n"]));
            LogBytes(mixed.into_bytes())
        })
        .boxed()
}
