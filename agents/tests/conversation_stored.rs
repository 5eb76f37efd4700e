//! A conversation that is stored and restored continues unchanged.

use foldline::transduce::{Batch, Transducer, emit_fn};
use foldline_agents::{ExecutorReducer, claude::ClaudeStream, wire::Record};
use foldline_domain::{
    ActionType, Conversation, CorrId, DomainEvent, NormalizedEntry, NormalizedEntryType,
    ToolStatus, ToolUse, WarningKind,
};
use proptest::prelude::*;

fn restored(conversation: &Conversation) -> Conversation {
    serde_json::from_str(&serde_json::to_string(conversation).unwrap()).unwrap()
}

/// Checks that storing and restoring before each event changes nothing.
fn goes_on(events: &[DomainEvent]) {
    let whole: Conversation = events.iter().collect();
    let mut stored = Conversation::default();
    for event in events {
        stored = restored(&stored);
        stored.apply(event);
    }
    assert_eq!(restored(&stored), whole);
}

#[test]
fn a_log_with_streamed_text_and_open_calls_goes_on_from_everywhere() {
    let log = r#"{"type":"system","subtype":"init","cwd":"/p","session_id":"s","tools":["Bash"],"model":"claude-x","uuid":"u1"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":3}}},"session_id":"s","parent_tool_use_id":null,"uuid":"u2"}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"s","parent_tool_use_id":null,"uuid":"u3"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}},"session_id":"s","parent_tool_use_id":null,"uuid":"u4"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}},"session_id":"s","parent_tool_use_id":null,"uuid":"u5"}
{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":3,"output_tokens":1}},"session_id":"s","parent_tool_use_id":null,"uuid":"u6"}
{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":3,"output_tokens":1}},"session_id":"s","parent_tool_use_id":null,"uuid":"u7"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a\nb"}]},"session_id":"s","parent_tool_use_id":null,"uuid":"u8"}
{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"num_turns":1,"result":"hello","total_cost_usd":0.5,"usage":{"input_tokens":3,"output_tokens":2},"session_id":"s","uuid":"u9"}"#;
    let same = emit_fn(|event: &DomainEvent| Batch::one(event.clone()));
    let mut shell = Transducer::new(ExecutorReducer::new(ClaudeStream), same);
    let mut events = Vec::new();
    for line in log.lines() {
        Record::read(line, |_, record| events.extend(shell.step(record)));
    }
    events.extend(shell.finish::<Record<'_>, _, _>().2);
    assert!(events.iter().any(|event| matches!(event, DomainEvent::GrowEntry { .. })));
    assert!(events.iter().any(|event| matches!(event, DomainEvent::NewToolCall { .. })));
    goes_on(&events);
}

fn call(status: ToolStatus) -> NormalizedEntry {
    let action = ActionType::CommandRun { command: "ls".into(), result: None };
    let mut tool = ToolUse::new("Execute", action);
    tool.status = status;
    NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "ls")
}

/// Any event, including ones that no executor emits.
fn event() -> impl Strategy<Value = DomainEvent> {
    let id = "[a-c]".prop_map(CorrId::from);
    let text = |text: &str| NormalizedEntry::new(NormalizedEntryType::AssistantMessage, text);
    let status = prop_oneof![
        Just(ToolStatus::Created),
        Just(ToolStatus::Success),
        Just(ToolStatus::Unfinished)
    ];
    prop_oneof![
        "[a-z]{0,3}".prop_map(move |said| DomainEvent::entry(text(&said))),
        id.clone()
            .prop_map(move |corr_id| DomainEvent::OpenEntry { corr_id, entry: text("").into() }),
        (id.clone(), "[a-z]{1,3}")
            .prop_map(|(corr_id, text)| DomainEvent::GrowEntry { corr_id, text: text.into() }),
        (id.clone(), any::<bool>()).prop_map(move |(corr_id, whole)| DomainEvent::CloseEntry {
            corr_id,
            entry: whole.then(|| text("whole").into())
        }),
        id.clone().prop_map(|corr_id| DomainEvent::NewToolCall {
            entry: call(ToolStatus::Created).into(),
            corr_id,
        }),
        (id, status).prop_map(|(corr_id, status)| DomainEvent::UpdateToolCall {
            entry: call(status).into(),
            corr_id,
        }),
        Just(DomainEvent::warning(WarningKind::Malformed, "x")),
    ]
}

proptest! {
    #[test]
    fn any_events_go_on_from_everywhere(events in prop::collection::vec(event(), 0..40)) {
        goes_on(&events);
    }
}

#[test]
fn a_complete_conversation_has_nothing_but_the_document() {
    let id = CorrId::from("a");
    let calls = [ToolStatus::Created, ToolStatus::Success].map(|status| call(status).into());
    let [created, ended] = calls;
    let mut conversation = Conversation::default();
    conversation.apply(&DomainEvent::NewToolCall { corr_id: id.clone(), entry: created });
    let open = serde_json::to_value(&conversation).unwrap();
    assert_eq!(open["open"], serde_json::json!({"a": 0}));
    conversation.apply(&DomainEvent::UpdateToolCall { corr_id: id, entry: ended });
    let document = serde_json::to_value(&conversation).unwrap();
    assert!(document.as_object().unwrap().keys().eq(["entries"]));
}
