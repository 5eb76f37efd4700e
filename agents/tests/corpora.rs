//! Lines from the categories of JSON parser test suites (valid, invalid, implementation-defined) and strings that break
//! programs. Each executor reads or keeps any such line with its position, and reads the lines around it as usual.

use crate::corpus::{INVALID, NAUGHTY, UNDECIDED, VALID};
use foldline::{
    processor::{Counts, Processor},
    transduce::{Batch, Transducer, emit_fn},
};
use foldline_agents::{Records, Registry};
use foldline_domain::{DomainEvent, Located, NormalizedEntryType, WarningKind, locating};
use serde_json::{Value, json};

/// A record that every executor reads and reports.
const SOUND: &str = r#"{"n":1,"type":"sound"}"#;

/// All events of a log, and the counts.
fn read(format: &str, log: &[u8]) -> (Vec<Located<DomainEvent>>, Counts) {
    let executor = Registry::builtin().named(format).cloned().unwrap();
    let keep = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.clone()));
    let mut processor = Processor::new(Records, Transducer::new(locating(executor), keep));
    let mut events = Vec::new();
    processor.push(log, |event| events.push(event));
    let counts = processor.finish(|event| events.push(event)).counts;
    (events, counts)
}

/// The report on a line: the kinds of its warnings and its kept texts.
#[derive(Debug, Default)]
struct Told {
    kinds: Vec<WarningKind>,
    kept: String,
    at: Vec<u64>,
}

fn told_of(line: u64, events: &[Located<DomainEvent>]) -> Told {
    let mut told = Told::default();
    let (mut is_kept, mut sample) = (false, String::new());
    for event in events.iter().filter(|event| event.position.line == line) {
        told.at.push(event.position.offset);
        match &event.item {
            DomainEvent::Warning(warning) => {
                told.kinds.push(warning.kind);
                sample = warning.sample.as_ref().map_or(sample, |json| json.get().to_owned());
            }
            DomainEvent::NewEntry { entry } => {
                is_kept |= matches!(entry.entry_type, NormalizedEntryType::Diagnostic { .. });
                told.kept.push_str(&entry.content.decode());
            }
            _ => {}
        }
    }
    // Bookkeeping of an unknown type is kept in its warning alone.
    if !is_kept && !sample.is_empty() {
        told.kept = sample;
    }
    told
}

/// Reads a line between two sound ones and returns its report. Checks that the line is counted, that its events have
/// positions within it, and that the other lines are read.
fn told_between_sound_lines(format: &str, line: &[u8]) -> Told {
    let log = [SOUND.as_bytes(), b"\n", line, b"\n", SOUND.as_bytes(), b"\n"].concat();
    let (events, counts) = read(format, &log);
    let shown = String::from_utf8_lossy(line);
    for sound in [1, 3] {
        let told = told_of(sound, &events);
        assert!(is_strange(&told), "{format}: {shown}: line {sound}: {told:?}");
        let kept: Value = serde_json::from_str(&told.kept).unwrap();
        assert_eq!(kept["n"], 1, "{format}: {shown}: line {sound}");
    }
    let told = told_of(2, &events);
    let is_blank = shown.trim().is_empty();
    assert_eq!((counts.lines, counts.blank), (3, u64::from(is_blank)), "{format}: {shown}");
    assert_eq!(told.at.is_empty(), is_blank, "{format}: {shown}: {told:?}");
    let begin = SOUND.len() as u64 + 1;
    let within = begin..begin + line.len().max(1) as u64;
    assert!(told.at.iter().all(|at| within.contains(at)), "{format}: {shown}: {told:?}");
    // The report is valid JSON for every reader.
    for event in &events {
        let json = serde_json::to_string(event).unwrap();
        serde_json::from_str::<Value>(&json).unwrap_or_else(|error| panic!("{shown}: {error}"));
    }
    told
}

/// Whether it was read as a complete record that does not belong to the format.
fn is_strange(told: &Told) -> bool {
    matches!(told.kinds[..], [WarningKind::UnknownEvent | WarningKind::ForeignRecord])
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn valid_values_are_kept_as_they_are() {
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for value in VALID {
            let told = told_between_sound_lines(format, value.as_bytes());
            let is_damage = |kind: &WarningKind| {
                matches!(kind, WarningKind::Malformed | WarningKind::PlainText)
            };
            assert!(!told.kinds.iter().any(is_damage), "{format}: {value}: {told:?}");
            // As a value in a record.
            let record = format!(r#"{{"type":"sound","value":{value}}}"#);
            let told = told_between_sound_lines(format, record.as_bytes());
            assert!(is_strange(&told), "{format}: {record}: {told:?}");
            // A null field counts as absent.
            let field = format!(r#""value":{}"#, value.trim());
            assert!(*value == "null" || told.kept.contains(&field), "{format}: {told:?}");
        }
    }
}

#[test]
fn invalid_lines_are_kept_word_for_word() {
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for line in INVALID {
            let text = String::from_utf8_lossy(line);
            let told = told_between_sound_lines(format, line);
            let is_damage = |kind: &WarningKind| {
                matches!(
                    kind,
                    WarningKind::Malformed | WarningKind::PlainText | WarningKind::InvalidUtf8
                )
            };
            assert!(told.kinds.iter().any(is_damage), "{format}: {text}: {told:?}");
            assert_eq!(without_spaces(&told.kept), without_spaces(&text), "{format}: {told:?}");
            // In a record: the damaged record is kept as a whole.
            let record = [br#"{"type":"sound","value":"#, *line, b"}"].concat();
            let text = String::from_utf8_lossy(&record).into_owned();
            let told = told_between_sound_lines(format, &record);
            assert!(told.kinds.iter().any(is_damage), "{format}: {text}: {told:?}");
            let kept = without_spaces(&told.kept);
            assert!(kept.len() + 2 >= without_spaces(&text).len(), "{format}: {text}: {told:?}");
        }
    }
}

#[test]
fn what_parsers_may_take_or_not_is_accounted_for() {
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for line in UNDECIDED {
            told_between_sound_lines(format, line);
            let record = [br#"{"type":"sound","value":"#, *line, b"}"].concat();
            told_between_sound_lines(format, &record);
        }
    }
}

/// Records in UTF-16 without a byte order mark are not text, but every line is kept.
#[test]
fn other_encodings_are_accounted_for() {
    let log = format!("{SOUND}\n{SOUND}\n");
    let little: Vec<u8> = log.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = log.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let latin: Vec<u8> = "caf\u{e9}\n".chars().map(|c| c as u8).collect();
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for log in [&little, &big, &latin] {
            let (events, counts) = read(format, log);
            for line in 1..=counts.lines - counts.blank {
                assert!(!told_of(line, &events).at.is_empty(), "{format}: {log:?}, line {line}");
            }
        }
    }
}

#[test]
fn naughty_strings_are_nothing_but_strings() {
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for naughty in NAUGHTY {
            // As a separate line.
            if !naughty.contains('\n') {
                let told = told_between_sound_lines(format, naughty.as_bytes());
                let (kept, line) = (without_spaces(&told.kept), without_spaces(naughty));
                let is_record = naughty.contains("{\"type\"");
                assert!(is_record || kept == line, "{format}: {naughty}: {told:?}");
            }
            // As each string of a record, and as its type.
            let record = json!({"type": naughty, "id": naughty, "message": {"content": naughty}});
            let told = told_between_sound_lines(format, record.to_string().as_bytes());
            assert!(!told.at.is_empty());
            let mut named = json!({"type": "sound"});
            named[format!("n {naughty}")] = naughty.to_owned().into();
            let told = told_between_sound_lines(format, named.to_string().as_bytes());
            let kept: Value = serde_json::from_str(&told.kept).unwrap();
            assert_eq!(kept[format!("n {naughty}")], *naughty, "{format}");
        }
    }
}

#[test]
fn naughty_strings_come_out_as_they_went_in() {
    let messages = NAUGHTY.iter().map(|naughty| {
        json!({"type": "message", "role": "user", "id": "m", "text": naughty}).to_string() + "\n"
    });
    let (events, counts) = read("droid", messages.collect::<String>().as_bytes());
    assert_eq!((counts.lines, counts.records), (NAUGHTY.len() as u64, NAUGHTY.len() as u64));
    let mut said = events.iter().filter_map(|event| match &event.item {
        DomainEvent::NewEntry { entry } if entry.entry_type == NormalizedEntryType::UserMessage => {
            Some((event.position.line, entry.content.decode().into_owned()))
        }
        _ => None,
    });
    for (line, naughty) in (1..).zip(NAUGHTY) {
        assert_eq!(said.next(), Some((line, (*naughty).to_owned())));
    }
    assert_eq!(said.next(), None);
}
