//! Droid's stream: each special case of real logs in a separate fixture.
//!
//! The whole conversation is a snapshot; important properties are also asserted.

mod lines;
mod memory;
mod pairing;
mod pure_core;
mod session;
mod tools;

use std::{fs, path::Path};

use foldline_agents::Registry;
use foldline_domain::{
    Conversation, DomainEvent, Json, Located, NormalizedEntry, Session, ToolUse, WarningKind,
};
use foldline_testkit::run;

fn events(name: &str) -> Vec<Located<DomainEvent>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/droid");
    let log = fs::read(path.join(format!("{name}.jsonl"))).unwrap();
    run::sourced_events(&Registry::builtin().named("droid").cloned().unwrap(), [&*log])
}

/// The conversation of a log, after a comparison with its snapshot.
fn conversation(name: &str) -> Conversation {
    let events = events(name);
    let conversation: Conversation = events.iter().map(|event| &event.item).collect();
    // Through a value, so that the snapshot has canonical escapes.
    let document = serde_json::to_value(&conversation).unwrap();
    insta::assert_snapshot!(name, serde_json::to_string_pretty(&document).unwrap());
    conversation
}

/// The entries as `type: content`, without the one that states the model.
fn entries(conversation: &Conversation) -> Vec<String> {
    let entries = conversation.entries.iter();
    let entries = entries.map(|entry| format!("{}: {}", entry.entry_type.name(), entry.content));
    entries.filter(|entry| !entry.starts_with("model_change: model: ")).collect()
}

fn calls(conversation: &Conversation) -> Vec<(&NormalizedEntry, &ToolUse)> {
    conversation.entries.iter().filter_map(|entry| Some((&**entry, entry.tool()?))).collect()
}

/// The calls as `id=status:result`.
fn results(conversation: &Conversation) -> Vec<String> {
    let results = calls(conversation).into_iter().map(|(entry, tool)| {
        let result = tool.action_type.result_text().unwrap_or_default();
        format!("{}={}:{result}", entry.corr_id().unwrap(), tool.status.name())
    });
    results.collect()
}

fn warnings(conversation: &Conversation) -> Vec<(WarningKind, u64)> {
    conversation.summary.warnings.iter().map(|(kind, count)| (*kind, *count)).collect()
}

fn session(conversation: &Conversation) -> &Session {
    conversation.summary.session.as_ref().unwrap()
}

fn durations(conversation: &Conversation) -> Vec<Option<u64>> {
    calls(conversation).iter().map(|(_, tool)| tool.duration_ms).collect()
}

fn extra<'c>(entry: &'c NormalizedEntry, name: &str) -> Option<&'c str> {
    entry.metadata.as_ref()?.extra.get(name).map(Json::get)
}
