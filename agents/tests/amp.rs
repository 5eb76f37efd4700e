//! Amp's stream: every fixture, from bytes to the conversation.

use std::{fs, path::Path};

use foldline_agents::{DynExecutor, amp::Amp};
use foldline_domain::{
    ActionType, CommandExitStatus, Conversation, DomainEvent, FileChange, NormalizedEntry, Outcome,
    ToolStatus, WarningKind,
};
use foldline_testkit::run;

fn events(name: &str) -> Vec<DomainEvent> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/amp");
    let log = fs::read(folder.join(format!("{name}.jsonl"))).unwrap();
    let events = run::sourced_events(&DynExecutor::new(Amp), [&*log]);
    events.into_iter().map(|event| event.item).collect()
}

/// The conversation of a log, after a comparison with its snapshot.
fn conversation(name: &str) -> Conversation {
    let conversation: Conversation = events(name).iter().collect();
    let document = serde_json::to_value(&conversation).unwrap();
    insta::assert_snapshot!(name, serde_json::to_string_pretty(&document).unwrap());
    conversation
}

fn call<'c>(conversation: &'c Conversation, id: &str) -> &'c NormalizedEntry {
    let entries = conversation.entries.iter();
    let mut calls = entries.filter(|entry| entry.corr_id().is_some_and(|of| of.as_str() == id));
    calls.next().unwrap_or_else(|| panic!("there is no call {id}"))
}

fn action<'c>(conversation: &'c Conversation, id: &str) -> &'c ActionType {
    &call(conversation, id).tool().unwrap().action_type
}

#[test]
fn a_session_with_results_out_of_order() {
    let conversation = conversation("session");
    let ActionType::CommandRun { result: Some(result), .. } = action(&conversation, "TU-2") else {
        panic!("it is a command");
    };
    assert_eq!(result.exit_status, Some(CommandExitStatus::ExitCode { code: 2 }));
    assert_eq!(call(&conversation, "TU-2").tool().unwrap().status, ToolStatus::Failed);
    let ActionType::FileEdit { changes, .. } = action(&conversation, "TU-3") else {
        panic!("it is an edit");
    };
    let FileChange::Edit { unified_diff, has_line_numbers, .. } = &changes[0] else { panic!() };
    assert!(*has_line_numbers);
    assert_eq!(*unified_diff, "@@ -4,1 +4,1 @@\n-helo\n+hello\n");
    // Three messages of 123 tokens each; the last message appears once.
    assert_eq!(conversation.summary.usage.unwrap().input_tokens, Some(369));
    let said = conversation.entries.iter().filter(|entry| entry.content == "Mended.");
    assert_eq!(said.count(), 1);
}

#[test]
fn every_tool_has_its_action() {
    let conversation = conversation("tools");
    let names: Vec<_> =
        (1..=13).map(|number| action(&conversation, &format!("TU-{number}")).name()).collect();
    assert_eq!(
        names,
        [
            "file_edit",
            "file_edit",
            "search",
            "search",
            "search",
            "web_fetch",
            "todo_management",
            "task_create",
            "tool",
            "tool",
            "tool",
            "command_run",
            "todo_management"
        ]
    );
    assert!(events("tools").iter().any(
        |event| matches!(event, DomainEvent::Warning(w) if w.kind == WarningKind::UnknownTool)
    ));
}

#[test]
fn the_work_of_a_sub_agent_is_under_its_call() {
    let conversation = conversation("subagent");
    let parent_of = |entry: &NormalizedEntry| entry.metadata.as_ref()?.parent_corr_id.clone();
    let children = conversation.entries.iter().filter(|entry| parent_of(entry).is_some());
    assert_eq!(children.count(), 4);
    assert_eq!(parent_of(call(&conversation, "TU-2")).unwrap().as_str(), "TU-1");
}

#[test]
fn a_run_that_failed() {
    let conversation = conversation("failure");
    assert_eq!(conversation.summary.session.as_ref().unwrap().outcome, Some(Outcome::Failed));
    assert_eq!(call(&conversation, "TU-1").tool().unwrap().status, ToolStatus::Unfinished);
}

#[test]
fn nothing_odd_is_lost() {
    let conversation = conversation("oddities");
    let document = serde_json::to_string(&conversation).unwrap();
    for part in ["Starting up", "hologram", "telepathy", "stranger", "twice", "early", "bye"] {
        assert!(document.contains(part), "{part}");
    }
}
