//! Resuming a stored conversation: the call of a late result, and the session of a record in the audit trail.

use std::sync::Arc;

use foldline::transduce::{Emitter, Resume};
use foldline_domain::{
    ActionType, Conversation, CorrId, DomainEvent, EntryIdx, Located, NormalizedEntry,
    NormalizedEntryType, Position, Session, SessionKey, ToolStatus, ToolUse,
    audit::{AuditTrail, verify},
    patch::{ConversationPatch, CorrIdResolver, PatchEmitter},
    store::MsgStore,
};
use serde_json::{Value, json};

fn call(command: &str, status: ToolStatus) -> Arc<NormalizedEntry> {
    let action = ActionType::CommandRun { command: command.into(), result: None };
    let mut tool = ToolUse::new("Execute", action);
    tool.status = status;
    NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), command).into()
}

fn new_call(id: &str, command: &str) -> DomainEvent {
    DomainEvent::NewToolCall { corr_id: id.into(), entry: call(command, ToolStatus::Created) }
}

fn end(id: &str, command: &str) -> DomainEvent {
    DomainEvent::UpdateToolCall { corr_id: id.into(), entry: call(command, ToolStatus::Success) }
}

fn said(text: &str) -> DomainEvent {
    DomainEvent::entry(NormalizedEntry::new(NormalizedEntryType::AssistantMessage, text))
}

/// A log in which one id is used twice, as resumed sessions do; each call has ended.
fn an_id_used_twice() -> Vec<DomainEvent> {
    let (first, second) = ("the first", "the second");
    vec![
        new_call("a", first),
        end("a", first),
        said("again"),
        new_call("b", "another"),
        new_call("a", second),
        said("and"),
        new_call("c", "the last"),
    ]
}

fn check(resolver: &impl CorrIdResolver) {
    let index = |id: &str| resolver.resolve_corr_id(&CorrId::from(id));
    assert_eq!(index("a"), Some(EntryIdx::new(3)), "the latest call with this id");
    assert_eq!(index("b"), Some(EntryIdx::new(2)));
    assert_eq!(index("c"), Some(EntryIdx::new(5)));
    assert_eq!(index("d"), None);
}

#[test]
fn of_two_calls_with_one_id_a_store_finds_the_latest() {
    let store = MsgStore::new();
    let mut emitter = PatchEmitter::default();
    for event in an_id_used_twice() {
        emitter.emit(&event).into_iter().for_each(|patch| store.push(patch).unwrap());
    }
    check(&store);
    // Also after a restore from a document.
    let document = store.snapshot().json().to_owned();
    let restored: Conversation = serde_json::from_str(&document).unwrap();
    check(&MsgStore::from(restored));
}

#[test]
fn every_patch_of_a_call_carries_its_id() {
    let mut emitter = PatchEmitter::default();
    let events = [new_call("a", "x"), end("a", "x")];
    let patches: Vec<ConversationPatch> =
        events.iter().flat_map(|event| emitter.emit(event)).collect();
    assert_eq!(patches.len(), 2);
    for patch in patches {
        let patch = serde_json::to_value(patch).unwrap();
        assert_eq!(patch[0]["value"]["content"]["metadata"]["corrId"], json!("a"));
    }
    let folded: Conversation = events.iter().collect();
    assert_eq!(folded.entries[0].corr_id(), Some(&CorrId::from("a")));
}

/// The session of each record in a trail.
fn sessions(trail: &[u8]) -> Vec<Value> {
    let trail = str::from_utf8(trail).unwrap();
    let records = trail.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.map(|record| record["record"]["session"].clone()).collect()
}

#[test]
fn an_audit_trail_knows_its_sessions_when_it_is_resumed() {
    let at = |line, session, event| {
        Located::new(Position { line, offset: 10 * line }, event).in_session(SessionKey(session))
    };
    let session = |id: &str| {
        let session = Session { session_id: Some(id.into()), ..Session::default() };
        DomainEvent::Session(Box::new(session))
    };

    let mut trail = AuditTrail::of_log("log.jsonl");
    let mut lines = String::new();
    let mut emit = |trail: &mut AuditTrail, event| {
        for line in trail.emit(&event) {
            lines += &line;
            lines.push('\n');
        }
    };
    let before = [(0, said("before")), (0, session("s1")), (1, session("s2")), (0, said("in it"))];
    for (line, (key, event)) in (1..).zip(before) {
        emit(&mut trail, at(line, key, event));
    }
    let stored = serde_json::to_string(&trail.state()).unwrap();
    let mut trail = AuditTrail::default();
    trail.resume(serde_json::from_str(&stored).unwrap());
    emit(&mut trail, at(5, 0, said("still in it")));
    emit(&mut trail, at(6, 1, said("in another")));
    emit(&mut trail, at(7, 2, said("in none yet")));
    let trail = lines.as_bytes();
    assert!(verify(trail, |_| {}).unwrap().is_ok());
    let none = Value::Null;
    assert_eq!(
        sessions(trail),
        [none.clone(), json!("s1"), json!("s2"), json!("s1"), json!("s1"), json!("s2"), none]
    );
}
