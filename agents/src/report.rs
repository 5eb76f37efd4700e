//! Warnings about content that an executor does not know. All executors share them, so that the same problem gives the
//! same warning for every agent.

use std::collections::BTreeMap;

use foldline::transduce::Batch;
use foldline_domain::{
    DomainEvent, Json, NormalizedEntry, NormalizedEntryType, Text, Timestamp, Warning, WarningKind,
};
use foldline_json::Raw;
use serde_json::Value;

use super::wire::{Fields, Irregular, object::distinct};

/// Keeps a record that is not an object.
pub(crate) fn irregular(record: &Irregular<'_>, events: &mut Batch<DomainEvent>) {
    let warning = |kind| Warning::new(kind, record.to_string());
    match record {
        Irregular::Value(raw) => {
            let warning = warning(WarningKind::UnexpectedValue).sample(*raw);
            events.extend(warning.keeping(raw.get(), None));
        }
        Irregular::Text(text) => {
            events.push(warning(WarningKind::PlainText).into());
            events.push(entry(NormalizedEntryType::SystemMessage, *text, None));
        }
        Irregular::Malformed { text, .. } => {
            events.extend(warning(WarningKind::Malformed).keeping(*text, None));
        }
        Irregular::InvalidUtf8 { .. } => events.push(warning(WarningKind::InvalidUtf8).into()),
        Irregular::Shortened { .. } => events.push(warning(WarningKind::TooLong).into()),
        Irregular::TooLong(line) => {
            let code = WarningKind::TooLong;
            events.push(warning(code).into());
            let mut entry =
                NormalizedEntry::new(NormalizedEntryType::Diagnostic { code }, line.head);
            let extra = &mut entry.metadata_mut().extra;
            extra.insert("bytes", Json::from(&Value::from(line.bytes)));
            if let Some(sha256) = line.sha256 {
                extra.insert("sha256", Json::from(Text::from(sha256.to_string())));
            }
            events.push(DomainEvent::entry(entry));
        }
    }
}

/// Keeps a record of an unknown type or of another format.
pub(crate) fn unread_record(
    kind: WarningKind,
    name: &str,
    fields: &Fields<'_>,
    timestamp: Option<Timestamp>,
    events: &mut Batch<DomainEvent>,
) {
    let message = match kind {
        WarningKind::ForeignRecord => format!("a record of another format: {name}"),
        _ => format!("unknown type of record: {name}"),
    };
    keep(Warning::new(kind, message).about(name), object_of(fields), timestamp, events);
}

/// Keeps a record of an unknown type that is not part of the conversation.
pub(crate) fn unread_bookkeeping(
    name: &str,
    fields: &Fields<'_>,
    timestamp: Option<Timestamp>,
    events: &mut Batch<DomainEvent>,
) {
    let record = object_of(fields);
    if record.get().len() > Warning::MAX_SAMPLE {
        return unread_record(WarningKind::UnknownEvent, name, fields, timestamp, events);
    }
    let message = format!("unknown type of record: {name}");
    let warning = Warning::new(WarningKind::UnknownEvent, message).about(name);
    events.push(warning.sample(record).into());
}

/// Keeps an object that does not state its record type.
pub(crate) fn untyped(
    fields: &Fields<'_>,
    timestamp: Option<Timestamp>,
    events: &mut Batch<DomainEvent>,
) {
    let warning = Warning::new(WarningKind::UnexpectedValue, "an object without a type");
    keep(warning, object_of(fields), timestamp, events);
}

/// Keeps a content block whose type the executor does not know; its message continues without it.
pub(crate) fn unknown_block(
    name: &str,
    block: Json,
    timestamp: Option<Timestamp>,
    events: &mut Batch<DomainEvent>,
) {
    let message = format!("unknown type of content block: {name}");
    let warning = Warning::new(WarningKind::UnknownBlock, message).about(name);
    keep(warning, block, timestamp, events);
}

/// Keeps a value as an entry, and also in the warning if it is small.
fn keep(
    mut warning: Warning,
    value: Json,
    timestamp: Option<Timestamp>,
    events: &mut Batch<DomainEvent>,
) {
    if value.get().len() <= Warning::MAX_SAMPLE {
        warning = warning.sample(value.clone());
    }
    events.extend(warning.keeping(value.into_string(), timestamp));
}

/// Reports a part of a tool's result whose type the executor does not know; the result keeps it.
pub(crate) fn unknown_part(name: &str, part: Raw<'_>, events: &mut Batch<DomainEvent>) {
    let message = format!("unknown type of part in a tool's result: {name}");
    let warning =
        Warning::new(WarningKind::UnknownBlock, message).about(format!("tool_result/{name}"));
    events.push(warning.sample(part).into());
}

/// Reports the fields of a known record that were not taken, and returns them for the metadata of its entry.
pub(crate) fn unknown_fields(
    of: &str,
    fields: &Fields<'_>,
    events: &mut Batch<DomainEvent>,
) -> Vec<(String, Json)> {
    for (name, raw) in fields {
        let subject = format!("{of}.{name}");
        let message = format!("unknown field, or a field of an unexpected type: {subject}");
        let warning = Warning::new(WarningKind::UnknownField, message).about(subject).sample(*raw);
        events.push(warning.into());
    }
    distinct(fields).map(|(name, raw)| (name, Json::from(raw))).collect()
}

/// Reports a tool that the executor does not know; the call itself keeps its name and arguments.
pub(crate) fn unknown_tool(name: &str, arguments: Option<&Json>, events: &mut Batch<DomainEvent>) {
    let mut warning =
        Warning::new(WarningKind::UnknownTool, format!("unknown tool: {name}")).about(name);
    warning.sample = arguments.cloned();
    events.push(warning.into());
}

/// The fields as one object, sorted by name.
pub fn object_of(fields: &Fields<'_>) -> Json {
    let object: BTreeMap<_, _> = distinct(fields).collect();
    // Names and raw values always serialize, so the default is never used.
    serde_json::value::to_raw_value(&object).map(Json::from).unwrap_or_default()
}

/// An event with a plain entry.
pub(crate) fn entry(
    entry_type: NormalizedEntryType,
    content: impl Into<Text>,
    timestamp: Option<Timestamp>,
) -> DomainEvent {
    DomainEvent::entry(NormalizedEntry::new(entry_type, content).at(timestamp))
}
