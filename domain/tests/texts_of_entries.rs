//! The texts of an entry.

use foldline_domain::{ActionType, NormalizedEntry, NormalizedEntryType, ToolStatus, ToolUse};

#[test]
fn arguments_are_the_texts_of_a_call_without_its_title() {
    let json = r#"{"a b": [1, 1e-5, "c\nd \"e\" \u00e9\\"], "f":{"":null},"g":true}"#;
    let arguments = Some(serde_json::from_str(json).unwrap());
    let call = ActionType::Tool { tool_name: "t".into(), arguments, result: None };
    let all = "t\n{\"a b\": [1, 1e-5, \"c\nd \"e\" é\\\"], \"f\":{\"\":null},\"g\":true}";
    assert_eq!(call.arguments("call").as_deref(), Some(all));
    assert_eq!(call.arguments("t").as_deref(), all.strip_prefix("t\n"));
    let read = ActionType::FileRead { path: "a.rs".into(), result: None };
    assert_eq!(read.arguments("a.rs"), None);
}

#[test]
fn a_call_has_its_title_arguments_result_and_reason() {
    let plan = ActionType::PlanPresentation { plan: "First".into(), result: None };
    let entry_type = NormalizedEntryType::ToolUse(ToolUse::new("plan", plan));
    let mut entry = NormalizedEntry::new(entry_type, "a plan");
    assert_eq!(entry.texts().collect::<Vec<_>>(), ["a plan", "First"]);
    let status = ToolStatus::Denied { reason: Some("no".into()) };
    entry.tool_mut().unwrap().complete(status, "said");
    assert_eq!(entry.texts().collect::<Vec<_>>(), ["a plan", "First", "said", "no"]);
}
