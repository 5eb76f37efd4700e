//! Replays of logs, and the properties of every replay.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use foldline::transduce::Reducer;
use foldline_agents::{AnyState, Registry, wire::Record};
use foldline_domain::{
    Conversation, DomainEvent, NormalizedEntry, NormalizedEntryType, Session, TokenUsage, ToolUse,
    WarningKind,
};
use serde_json::{Value, json};

use crate::captures;
pub(crate) use crate::captures::{is_capture, is_regular};

/// A fixture of a format.
pub(crate) fn fixture(folder: &str, name: &str) -> Vec<u8> {
    let path = root().join("../tests/fixtures").join(folder).join(format!("{name}.jsonl"));
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All logs of a format: fixtures and captures, if any.
pub(crate) fn all_logs(folder: &str) -> Vec<PathBuf> {
    captures::fixtures(folder).into_iter().chain(captures::of(folder)).collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The events of a log.
pub(crate) fn replay(format: &str, log: &[u8]) -> Vec<DomainEvent> {
    run(format, log, |state| state).0
}

/// The events of a log whose reader stores and restores its state after every line.
pub(crate) fn replay_with_stops(format: &str, log: &[u8]) -> (Vec<DomainEvent>, AnyState) {
    let executor = Registry::builtin().named(format).cloned().unwrap();
    run(format, log, |state| {
        let stored = serde_json::to_string(&state).unwrap();
        executor.restore(&stored).unwrap()
    })
}

fn run(
    format: &str,
    log: &[u8],
    between: impl Fn(AnyState) -> AnyState,
) -> (Vec<DomainEvent>, AnyState) {
    let executor = Registry::builtin().named(format).cloned().unwrap();
    let mut state = executor.init();
    let mut events = Vec::new();
    for line in log.split(|&byte| byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        let mut records = Vec::new();
        Record::read(&line, |_, record| records.push(record));
        for record in records {
            let (next, more) = executor.reduce(state, record);
            state = next;
            events.extend(more);
        }
        state = between(state);
    }
    let (state, more) = executor.finish(state);
    events.extend(more);
    (events, state)
}

/// A replayed log: its events and its conversation.
pub(crate) struct Replay {
    pub(crate) events: Vec<DomainEvent>,
    pub(crate) conversation: Conversation,
}

impl Replay {
    pub(crate) fn of(format: &str, log: &[u8]) -> Self {
        let events = replay(format, log);
        let conversation = events.iter().collect();
        Self { events, conversation }
    }

    pub(crate) fn session(&self) -> Session {
        self.conversation.summary.session.as_deref().cloned().unwrap_or_default()
    }

    pub(crate) fn usage(&self) -> TokenUsage {
        self.conversation.summary.usage.unwrap_or_default()
    }

    pub(crate) fn warnings(&self, kind: WarningKind) -> u64 {
        self.conversation.summary.warnings.get(&kind).copied().unwrap_or(0)
    }

    /// All entries as `name: text`, tool calls as `tool_use(name, status): title`.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.conversation.entries.iter().map(|entry| line(entry)).collect()
    }

    pub(crate) fn tools(&self) -> Vec<&ToolUse> {
        self.conversation.entries.iter().filter_map(|entry| entry.tool()).collect()
    }

    pub(crate) fn tool(&self, corr_id: &str) -> &ToolUse {
        let entry = self.entry(corr_id);
        entry.tool().unwrap_or_else(|| panic!("{corr_id} is a call"))
    }

    pub(crate) fn entry(&self, corr_id: &str) -> &NormalizedEntry {
        let mut entries = self.conversation.entries.iter();
        entries
            .find(|entry| entry.corr_id().is_some_and(|id| id.as_str() == corr_id))
            .unwrap_or_else(|| panic!("there is no call {corr_id}: {:#?}", self.lines()))
    }

    pub(crate) fn result_of(&self, corr_id: &str) -> String {
        let text = self.tool(corr_id).action_type.result_text();
        text.map(|text| text.decode().into_owned()).unwrap_or_default()
    }
}

fn line(entry: &NormalizedEntry) -> String {
    let content = entry.content.decode();
    match &entry.entry_type {
        NormalizedEntryType::ToolUse(tool) => {
            format!("{}({}): {content}", tool.tool_name, tool.status.name())
        }
        other => format!("{}: {content}", other.name()),
    }
}

/// Checks the properties of every log.
pub(crate) fn check_laws(format: &str, log: &Path) {
    let name = log.display();
    let bytes = fs::read(log).unwrap();
    let events = replay(format, &bytes);
    assert_eq!(events, replay(format, &bytes), "{name}: the same log gives the same events");
    let (stopped, state) = replay_with_stops(format, &bytes);
    assert_eq!(events, stopped, "{name}: stopping after every line changes nothing");
    let (_, unstopped) = run(format, &bytes, |state| state);
    assert_eq!(state, unstopped, "{name}: stopping after every line leaves the same state");
    check_balance(&events, &name.to_string());
}

fn check_balance(events: &[DomainEvent], name: &str) {
    let (mut opened, mut open) = (BTreeSet::new(), BTreeSet::new());
    for event in events {
        match event {
            DomainEvent::NewToolCall { corr_id, .. } | DomainEvent::OpenEntry { corr_id, .. } => {
                assert!(opened.insert(corr_id), "{name}: {corr_id} is opened twice");
                open.insert(corr_id);
            }
            DomainEvent::UpdateToolCall { corr_id, entry } => {
                assert!(open.contains(corr_id), "{name}: {corr_id} is updated and not open");
                if entry.tool().unwrap().status.is_final() {
                    open.remove(corr_id);
                }
            }
            DomainEvent::GrowEntry { corr_id, .. } => assert!(open.contains(corr_id), "{name}"),
            DomainEvent::CloseEntry { corr_id, .. } => assert!(open.remove(corr_id), "{name}"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{name}: left open: {open:?}");
}

/// Checks that the executor knows all content of a log, except where a value was removed from it.
pub(crate) fn check_all_known(format: &str, log: &Path) {
    let strange = [WarningKind::UnknownEvent, WarningKind::UnknownBlock, WarningKind::UnknownField];
    for event in replay(format, &fs::read(log).unwrap()) {
        if let DomainEvent::Warning(warning) = event {
            let is_trimmed = warning
                .sample
                .as_ref()
                .is_some_and(|sample| sample.get().starts_with("\"[trimmed "));
            let is_strange = strange.contains(&warning.kind) && !is_trimmed;
            assert!(!is_strange, "{}: {warning:?}", log.display());
        }
    }
}

/// The counts of a conversation, in the format that independent readers print.
pub(crate) fn counts(conversation: &Conversation) -> serde_json::Value {
    let count = |name: &str| {
        conversation.entries.iter().filter(|entry| entry.entry_type.name() == name).count()
    };
    let mut by_status = BTreeMap::<_, u64>::new();
    for tool in conversation.entries.iter().filter_map(|entry| entry.tool()) {
        *by_status.entry(tool.status.name()).or_default() += 1;
    }
    serde_json::json!({
        "calls": count("tool_use"),
        "by_status": by_status,
        "assistant_texts": count("assistant_message"),
        "user_texts": count("user_message"),
        "thinking": count("thinking"),
        "usage": conversation.summary.usage.unwrap_or_default(),
    })
}

/// Puts every kind of value into every place of every line of the fixtures, one at a time: the reducer terminates, and
/// its events are consistent.
pub(crate) fn survives_any_value(format: &str, folder: &str) {
    for log in all_logs(folder).iter().filter(|log| !is_capture(log)) {
        let text = fs::read_to_string(log).unwrap();
        for line in text.lines() {
            let Ok(whole) = serde_json::from_str::<Value>(line) else { continue };
            for place in places(&whole) {
                for value in
                    [json!(null), json!(-1.5), json!("\u{1F600}"), json!([[]]), json!({"type": {}})]
                {
                    let mut changed = whole.clone();
                    *changed.pointer_mut(&place).unwrap() = value;
                    let changed = changed.to_string();
                    // Before and after the original line.
                    let twice = format!("{changed}\n{line}\n{changed}");
                    check_balance(&replay(format, twice.as_bytes()), &changed);
                }
            }
        }
    }
}

/// All places in a value, as JSON pointers.
fn places(value: &Value) -> Vec<String> {
    let mut places = vec![String::new()];
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(n, value)| (n.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (name, value) in inner {
        let name = name.replace('~', "~0").replace('/', "~1");
        places.extend(places_within(&name, value));
    }
    places
}

fn places_within(name: &str, value: &Value) -> Vec<String> {
    places(value).into_iter().map(|place| format!("/{name}{place}")).collect()
}
