//! The JSON form of an entry.

use foldline_domain::*;

#[test]
fn entries_have_the_shape_that_user_interfaces_read() {
    let action = ActionType::CommandRun { command: "ls".into(), result: None };
    let tool = ToolUse::new("Execute", action);
    let mut entry = NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "ls")
        .at(Some(Timestamp::from_millis(5)));
    entry.metadata_mut().corr_id = Some("call_1".into());
    let json = serde_json::to_string(&entry).unwrap();
    assert_eq!(
        json,
        r#"{"timestamp":5,"entry_type":{"type":"tool_use","tool_name":"Execute","action_type":{"action":"command_run","command":"ls"},"status":{"status":"created"}},"content":"ls","metadata":{"corrId":"call_1"}}"#
    );
    assert_eq!(serde_json::from_str::<NormalizedEntry>(&json).unwrap(), entry);
}

#[test]
fn what_divides_a_conversation_is_stated_by_the_type() {
    for (kind, json) in [
        (
            NormalizedEntryType::ModelChange { model: "m-1".into() },
            r#"{"type":"model_change","model":"m-1"}"#,
        ),
        (NormalizedEntryType::Compaction, r#"{"type":"compaction"}"#),
        (NormalizedEntryType::Continuation, r#"{"type":"continuation"}"#),
    ] {
        assert!(kind.is_system());
        assert_eq!(serde_json::to_string(&kind).unwrap(), json);
        assert_eq!(serde_json::from_str::<NormalizedEntryType>(json).unwrap(), kind);
    }
    let nameless = serde_json::from_str::<NormalizedEntryType>(r#"{"type":"model_change"}"#);
    assert!(nameless.unwrap_err().to_string().contains("needs a model"));
}
