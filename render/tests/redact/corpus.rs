//! The corpus: shapes of secrets that vanish, and look-alikes that stay.

use std::collections::BTreeSet;

use foldline::transduce::*;
use foldline_domain::*;
use foldline_render::redact::{Masker, Redact};
use serde_json::{Value, json};

use super::notation::{Composed, texts};

const TOKENS: &str = include_str!("corpus/tokens.txt");
const NAMED: &str = include_str!("corpus/named.txt");
const GITLEAKS: &str = include_str!("corpus/gitleaks.txt");
const HARMLESS: &str = include_str!("corpus/harmless.txt");

/// Events without secrets, as JSON.
fn redacted(events: &[DomainEvent]) -> Value {
    let mut redact = Redact::new(emit_fn(|event: &DomainEvent| Batch::one(event.clone())));
    let mut conversation = Conversation::default();
    for event in events {
        redact.emit(event).into_iter().for_each(|event| conversation.apply(&event));
    }
    serde_json::to_value(&conversation).unwrap()
}

fn said(text: &str) -> DomainEvent {
    DomainEvent::entry(NormalizedEntry::new(NormalizedEntryType::UserMessage, text))
}

fn called(arguments: &Value) -> DomainEvent {
    let arguments: Json = serde_json::from_str(&arguments.to_string()).unwrap();
    let action =
        ActionType::Tool { tool_name: "x".into(), arguments: Some(arguments), result: None };
    let entry = NormalizedEntry::new(NormalizedEntryType::ToolUse(ToolUse::new("x", action)), "y");
    DomainEvent::NewToolCall { corr_id: "1".into(), entry: entry.into() }
}

fn masked(line: &str) -> String {
    let mut bytes = line.as_bytes().to_vec();
    Masker::new().mask(&mut bytes);
    assert_eq!(bytes.len(), line.len());
    let once = bytes.clone();
    Masker::new().mask(&mut bytes);
    assert!(once == bytes, "{line:?}: {:?}", String::from_utf8_lossy(&bytes));
    String::from_utf8(bytes).unwrap()
}

/// All strings in a value, also those of JSON in strings.
fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            into.push(text.clone());
            if text.starts_with(['{', '[']) {
                serde_json::from_str(text).iter().for_each(|value| strings(value, into));
            }
        }
        Value::Array(values) => values.iter().for_each(|value| strings(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, into)),
        _ => {}
    }
}

/// What is left of a text, wherever it is.
fn left(text: &str) -> Vec<(&'static str, Vec<String>)> {
    let nested = json!({ "content": json!({ "b": [text] }).to_string() });
    let deep = json!({ "a": nested.to_string() });
    let of = |value: &Value| {
        let mut found = Vec::new();
        strings(value, &mut found);
        found
    };
    let line = |value: &Value| of(&serde_json::from_str(&masked(&value.to_string())).unwrap());
    let mut left = vec![
        ("event", of(&redacted(&[said(text)]))),
        ("arguments", of(&redacted(&[called(&json!({ "command": text }))]))),
        ("nested arguments", of(&redacted(&[called(&nested)]))),
        ("line", line(&json!({ "text": text }))),
        ("nested line", line(&nested)),
        ("deep line", line(&deep)),
    ];
    if !text.contains('\n') {
        left.push(("plain line", vec![masked(text)]));
    }
    left
}

/// The places where a secret is left.
fn leaks(composed: &Composed) -> BTreeSet<String> {
    let pieces = |secret: &String| {
        let pieces = secret.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
        let pieces = pieces.filter(|piece| piece.len() > 10).map(str::to_owned);
        pieces.chain([secret.clone()]).collect::<Vec<_>>()
    };
    let secrets: Vec<_> = composed.secrets.iter().flat_map(pieces).collect();
    let mut leaks = BTreeSet::new();
    for (place, strings) in left(&composed.text) {
        for string in strings {
            if secrets.iter().any(|secret| string.contains(secret.as_str())) {
                leaks.insert(format!("{place}: {string:?}"));
            }
        }
    }
    leaks
}

/// Reports everything that is wrong, at once.
fn report(wrong: &[String], of: usize) {
    assert!(wrong.is_empty(), "{} of {of}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn secrets_vanish() {
    let secrets: Vec<_> = texts(TOKENS).chain(texts(NAMED)).chain(texts(GITLEAKS)).collect();
    let distinct: BTreeSet<_> = secrets.iter().map(|secret| &secret.text).collect();
    assert!(distinct.len() > 700, "{}", distinct.len());
    let wrong = secrets.iter().filter_map(|secret| {
        let leaks = leaks(secret);
        (!leaks.is_empty()).then(|| format!("{:?}\n  {leaks:?}", secret.text))
    });
    report(&wrong.collect::<Vec<_>>(), secrets.len());
}

#[test]
fn tokens_vanish_from_commands() {
    let shells = |token: &str| {
        [
            format!("cd x && FOO={token} ./run --flag; echo done"),
            format!("bash -lc 'curl -s -H \"X-Foo: {token}\" https://x.org | jq .'"),
            format!("printf \"%s\" \"{token}\" > x.txt"),
        ]
    };
    let mut wrong = Vec::new();
    let tokens: Vec<_> = texts(TOKENS).collect();
    for Composed { text, secrets } in &tokens {
        for command in shells(text) {
            let leaks = leaks(&Composed { text: command.clone(), secrets: secrets.clone() });
            wrong.extend((!leaks.is_empty()).then(|| format!("{command}\n  {leaks:?}")));
        }
    }
    report(&wrong, tokens.len());
}

#[test]
fn what_is_harmless_stays() {
    let texts: Vec<_> = texts(HARMLESS).map(|composed| composed.text).collect();
    assert!(texts.len() > 170);
    let mut wrong = Vec::new();
    for text in &texts {
        for (place, strings) in left(text) {
            if !strings.contains(text) {
                wrong.push(format!("{text:?}\n  {place}: {strings:?}"));
            }
        }
    }
    report(&wrong, texts.len());
}

#[test]
fn redacting_again_changes_nothing() {
    let mut wrong = Vec::new();
    for Composed { text, .. } in [TOKENS, NAMED, GITLEAKS, HARMLESS].into_iter().flat_map(texts) {
        let once = redacted(&[said(&text)]);
        let entry = once["entries"][0]["content"]["content"].as_str().unwrap();
        let twice = redacted(&[said(entry)]);
        if once != twice {
            wrong.push(format!("{text:?}\n  {once}\n  {twice}"));
        }
    }
    report(&wrong, 0);
}
