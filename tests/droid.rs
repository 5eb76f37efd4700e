//! Droid's stream: each oddity of real logs, from a log of its own to the conversation.
//!
//! The whole conversation is a snapshot; what matters about it is asserted besides.
#![allow(clippy::unwrap_used, clippy::panic, reason = "that is how a test fails")]

use std::{fs, path::Path};

use foldline::{
    conversation::{
        ActionType, CommandExitStatus, Conversation, DomainEvent, FileChange, Json,
        NormalizedEntry, Outcome, Session, Source, Sourced, ToolStatus, ToolUse, WarningKind,
    },
    executors::{Executor, Format},
    testkit::run,
};
use serde_json::Value;

fn events(name: &str) -> Vec<Sourced<DomainEvent>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/droid");
    let log = fs::read(path.join(format!("{name}.jsonl"))).unwrap();
    run::sourced_events(&Executor::of(Format::Droid).unwrap(), [&*log])
}

/// The conversation of a log, which is also compared with its snapshot.
fn conversation(name: &str) -> Conversation {
    let events = events(name);
    let conversation: Conversation = events.iter().map(|event| &event.item).collect();
    // Through a value, so that the snapshot spells every string in one way.
    let document = serde_json::to_value(&conversation).unwrap();
    insta::assert_snapshot!(name, serde_json::to_string_pretty(&document).unwrap());
    conversation
}

/// The entries as `type: content`, without the one that states the model.
fn entries(conversation: &Conversation) -> Vec<String> {
    let entries = conversation.entries.iter();
    let entries = entries.map(|entry| format!("{}: {}", entry.entry_type.name(), entry.content));
    entries.filter(|entry| !entry.starts_with("system_message: model: ")).collect()
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

#[test]
fn an_empty_tool_id_is_none() {
    let conversation = conversation("empty_tool_id");
    assert_eq!(
        results(&conversation),
        ["call_1=success:alpha\n", "call_2=failed:Error: ripgrep is missing"]
    );
    assert_eq!(calls(&conversation)[1].1.tool_name, "Grep");
    assert_eq!(calls(&conversation)[0].0.content, "a.txt", "relative to the directory");
    assert_eq!(durations(&conversation), [Some(40), Some(10)]);
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn results_without_ids_go_to_the_calls_in_order() {
    let conversation = conversation("ids_missing");
    assert_eq!(
        results(&conversation),
        [
            "call_1=success:content of a",
            "call_2=success:content of b",
            "call-2=success:a.txt b.txt"
        ]
    );
    for (call, _) in calls(&conversation) {
        assert!(call.metadata.as_ref().unwrap().inferred, "{call:?}");
    }
    assert_eq!(entries(&conversation).last().unwrap(), "diagnostic: one too many");
    assert_eq!(
        warnings(&conversation),
        [(WarningKind::UnclaimedResult, 1), (WarningKind::InferredResult, 3)]
    );
}

#[test]
fn results_without_ids_that_name_a_tool_go_to_its_call() {
    let conversation = conversation("results_without_ids_by_tool");
    assert_eq!(
        results(&conversation),
        ["call_1=success:made", "call_2=success:File created successfully"]
    );
    assert_eq!(warnings(&conversation), [(WarningKind::InferredResult, 2)]);
}

#[test]
fn the_order_of_keys_does_not_matter() {
    let conversation = conversation("id_last");
    assert_eq!(results(&conversation), ["toolu_1=success:File created successfully"]);
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn parallel_calls_get_their_own_results_in_any_order() {
    let conversation = conversation("parallel_calls");
    assert_eq!(
        results(&conversation),
        ["toolu_1=success:1", "toolu_2=success:2", "toolu_3=success:3"]
    );
    assert_eq!(durations(&conversation), [Some(5), Some(9), Some(3)]);
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn a_result_may_come_before_its_call() {
    let conversation = conversation("early_result");
    assert_eq!(results(&conversation), ["call_1=success:early"]);
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn a_result_that_nobody_asked_for_is_kept() {
    let conversation = conversation("unknown_result_id");
    assert_eq!(results(&conversation), ["call_1=success:1"]);
    assert_eq!(entries(&conversation).last().unwrap(), "diagnostic: nobody asked");
    assert_eq!(warnings(&conversation), [(WarningKind::UnclaimedResult, 1)]);
}

#[test]
fn a_torn_result_leaves_its_call_unfinished_and_the_others_alone() {
    let conversation = conversation("truncated_result");
    assert_eq!(results(&conversation), ["call_1=unfinished:", "call_2=success:2"]);
    assert!(entries(&conversation)[1].ends_with("the first half of"), "the torn line is kept");
    assert_eq!(
        warnings(&conversation),
        [(WarningKind::Malformed, 1), (WarningKind::UnfinishedCall, 1)]
    );
}

#[test]
fn of_two_with_one_id_the_first_counts() {
    let conversation = conversation("same_id_twice");
    assert_eq!(results(&conversation), ["call_1=success:first"]);
    assert_eq!(calls(&conversation)[0].1.tool_name, "Read");
    let entries = entries(&conversation);
    assert!(entries[1].contains(r#""command":"other""#), "the second call is kept: {entries:?}");
    assert_eq!(entries[2], "diagnostic: second");
    assert_eq!(
        warnings(&conversation),
        [(WarningKind::DuplicateCall, 1), (WarningKind::DuplicateResult, 1)]
    );
}

#[test]
fn the_final_text_stands_once_whichever_comes_first() {
    let after = conversation("final_text_repeated");
    assert_eq!(entries(&after), ["user_message: go", "assistant_message: All done.\n"]);
    let before = conversation("completion_before_message");
    assert_eq!(entries(&before), ["user_message: go", "assistant_message: All done."]);
    for (conversation, turns, duration) in [(&after, 2, 4074), (&before, 1, 900)] {
        let session = session(conversation);
        assert_eq!(session.outcome, Some(Outcome::Success));
        assert_eq!((session.turns, session.duration_ms), (Some(turns), Some(duration)));
        assert_eq!(warnings(conversation), []);
    }
}

#[test]
fn a_completion_is_not_the_end() {
    let conversation = conversation("text_after_completion");
    assert_eq!(
        entries(&conversation),
        ["user_message: go", "assistant_message: All done.", "assistant_message: One more thing."]
    );
}

#[test]
fn a_thought_that_is_printed_twice_stands_once() {
    let conversation = conversation("reasoning_doubled");
    assert_eq!(
        entries(&conversation),
        ["thinking: Let me think.", "thinking: Let me think.", "assistant_message: Thought."],
        "once for each of two messages"
    );
}

fn changes(conversation: &Conversation, call: usize) -> &[FileChange] {
    match &calls(conversation)[call].1.action_type {
        ActionType::FileEdit { changes, .. } => changes,
        other => panic!("no edit: {other:?}"),
    }
}

fn diff(change: &FileChange) -> String {
    match change {
        FileChange::Edit { unified_diff, .. } => unified_diff.decode().into_owned(),
        other => panic!("no edit: {other:?}"),
    }
}

#[test]
fn edits_become_diffs() {
    let conversation = conversation("edits");
    assert_eq!(diff(&changes(&conversation, 0)[0]), "@@ -1 +1 @@\n-let a = 1;\n+let a = 2;\n");
    let several: Vec<_> = changes(&conversation, 1).iter().map(diff).collect();
    assert_eq!(several, ["@@ -1 +1 @@\n-x\n+y\n", "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"]);
    let written =
        FileChange::Write { path: "/tmp/elsewhere.txt".into(), content: "hello\n".into() };
    assert_eq!(changes(&conversation, 2), [written]);
    // A change that cannot be read is not lost with the list it stands in.
    assert_eq!(changes(&conversation, 3).len(), 1);
    let kept = extra(calls(&conversation)[3].0, "edits").unwrap();
    assert!(kept.contains(r#""insert":"r""#), "{kept}");
    assert_eq!(extra(calls(&conversation)[1].0, "changes"), None);
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn a_patch_text_becomes_its_changes() {
    let conversation = conversation("apply_patch");
    let paths: Vec<_> = changes(&conversation, 0).iter().map(FileChange::path).collect();
    assert_eq!(paths, ["sort.py", "new.py", "old.py"]);
    let results = results(&conversation);
    let json = results[0].strip_prefix("call_1=success:").unwrap();
    assert_eq!(serde_json::from_str::<Value>(json).unwrap()["success"], true);
    assert!(matches!(calls(&conversation)[1].1.action_type, ActionType::Tool { .. }));
    assert_eq!(results[1], "call_2=failed:Error: invalid patch");
}

#[test]
fn the_exit_line_says_how_a_command_ended() {
    let conversation = conversation("execute");
    let ended: Vec<_> = calls(&conversation)
        .into_iter()
        .map(|(_, tool)| match &tool.action_type {
            ActionType::CommandRun { result: Some(result), .. } => {
                let output = result.output.as_ref().unwrap().decode().into_owned();
                (tool.status.name(), result.exit_status.unwrap(), output)
            }
            other => panic!("no command that ended: {other:?}"),
        })
        .collect();
    let code = |code| CommandExitStatus::ExitCode { code };
    let success = |success| CommandExitStatus::Success { success };
    assert_eq!(
        ended,
        [
            ("success", code(0), "a.txt\nb.txt\n".to_owned()),
            ("failed", code(2), "boom".to_owned()),
            ("success", success(true), "bare".to_owned()),
            ("failed", success(false), "partial output\nError: timed out".to_owned()),
        ]
    );
    assert_eq!(extra(calls(&conversation)[0].0, "timeout"), Some("120"));
}

#[test]
fn the_risk_of_a_command_is_kept_in_both_spellings() {
    let conversation = conversation("risk_level");
    let [(object, _), (string, _)] = calls(&conversation)[..] else { panic!() };
    let risk = extra(object, "riskLevel").unwrap();
    assert_eq!(serde_json::from_str::<Value>(risk).unwrap()["reason"], "deletes files");
    assert_eq!(extra(string, "riskLevel"), Some(r#""low""#));
    assert_eq!(extra(string, "riskLevelReason"), Some(r#""only reads""#));
    assert_eq!(warnings(&conversation), [(WarningKind::UnfinishedCall, 2)]);
}

#[test]
fn todos_are_read_in_both_spellings() {
    let conversation = conversation("todos");
    let read: Vec<Vec<_>> = calls(&conversation)
        .into_iter()
        .map(|(_, tool)| match &tool.action_type {
            ActionType::TodoManagement { todos, .. } => {
                todos.iter().map(|todo| format!("{} {}", todo.status, todo.content)).collect()
            }
            other => panic!("no todos: {other:?}"),
        })
        .collect();
    assert_eq!(read[0], ["completed Read the code", "in_progress Change it"]);
    assert_eq!(
        read[1],
        ["completed Read the code", "in_progress Change [all of] it", "pending Test"]
    );
}

#[test]
fn of_the_two_errors_of_one_failure_the_first_is_the_reason() {
    let conversation = conversation("error_pair");
    let session = session(&conversation);
    assert_eq!(session.outcome, Some(Outcome::Failed));
    assert_eq!(session.outcome_reason, Some("Connection error.".into()));
    assert_eq!(
        entries(&conversation)[1..],
        ["error_message: Connection error.", "error_message: Exec failed"]
    );
    assert_eq!(extra(&conversation.entries[2], "source"), Some(r#""agent_loop""#));
}

#[test]
fn a_call_that_was_not_permitted_is_denied() {
    let conversation = conversation("permission_refused");
    let tool = calls(&conversation)[0].1;
    assert_eq!(tool.status, ToolStatus::Denied { reason: None });
    let ActionType::CommandRun { result: Some(result), .. } = &tool.action_type else { panic!() };
    assert_eq!(result.exit_status, None, "it never ran");
    let session = session(&conversation);
    assert_eq!(session.outcome, Some(Outcome::Failed));
    let reason = session.outcome_reason.as_ref().unwrap().decode();
    assert!(reason.starts_with("Exec ended early: insufficient permission"), "{reason}");
}

#[test]
fn the_one_object_of_json_output_is_a_conversation_too() {
    let success = conversation("json_mode");
    assert_eq!(entries(&success), ["assistant_message: ready"]);
    assert_eq!(session(&success).outcome, Some(Outcome::Success));
    assert_eq!(success.summary.usage.unwrap().input_tokens, Some(100));
    let failure = conversation("json_mode_failure");
    assert_eq!(entries(&failure), ["error_message: Exec failed"]);
    assert_eq!(session(&failure).outcome, Some(Outcome::Failed));
    assert_eq!((warnings(&success), warnings(&failure)), (vec![], vec![]));
}

#[test]
fn lines_for_people_are_kept_and_counted() {
    let conversation = conversation("plain_text");
    assert_eq!(
        entries(&conversation),
        [
            "system_message: Checking for updates...",
            "system_message: Warning: 2 droids are outdated",
            "diagnostic: [WARN] {not json}",
            "diagnostic: null",
            "diagnostic: \"a\"",
            "diagnostic: 1",
            "assistant_message: Fine.",
        ]
    );
    assert_eq!(
        warnings(&conversation),
        [
            (WarningKind::Malformed, 1),
            (WarningKind::PlainText, 2),
            (WarningKind::UnexpectedValue, 3)
        ]
    );
}

#[test]
fn blank_lines_carriage_returns_and_a_byte_order_mark_are_nothing() {
    let conversation = conversation("line_ends");
    assert_eq!(entries(&conversation), ["user_message: one", "assistant_message: two\r\n"]);
    assert_eq!(warnings(&conversation), []);
    let events = events("line_ends");
    assert_eq!(events[0].source, Source { line: 1, offset: 3 });
    assert_eq!(events.last().unwrap().source.line, 7, "blank lines count as lines");
}

#[test]
fn records_on_one_line_are_told_apart() {
    let conversation = conversation("glued_records");
    let said = ["one", "two", "three", "four", "five"];
    let entries = entries(&conversation);
    let messages = entries.iter().filter_map(|entry| entry.split_once("_message: "));
    assert!(messages.map(|(_, text)| text).eq(said), "{entries:?}");
    assert!(entries[2].starts_with("diagnostic: {\"type\":\"message\""), "{entries:?}");
    assert_eq!(warnings(&conversation), [(WarningKind::Malformed, 1)]);
}

#[test]
fn what_no_release_has_is_kept_counted_and_named() {
    let conversation = conversation("unknown_things");
    let entries = entries(&conversation);
    for part in [r#""type":"mission_step""#, r#""title":"Look around""#] {
        assert!(entries[0].contains(part), "{}", entries[0]);
    }
    assert!(entries[1].contains(r#""subtype":"compaction""#), "{}", entries[1]);
    assert_eq!(extra(&conversation.entries[3], "mood"), Some(r#"{"level":2}"#));
    let (call, tool) = calls(&conversation)[0];
    assert_eq!(extra(call, "riskScore"), Some("0.7"));
    assert_eq!(extra(call, "cacheHit"), Some("false"));
    assert_eq!(tool.action_type.result_text(), Some(r#"{"arrived":true}"#.into()));
    assert_eq!(extra(&conversation.entries[5], "role"), Some(r#""narrator""#));
    let named: Vec<_> = events("unknown_things")
        .into_iter()
        .filter_map(|event| match event.item {
            DomainEvent::Warning(warning) => warning.subject,
            _ => None,
        })
        .collect();
    assert_eq!(
        named,
        [
            "mission_step",
            "system/compaction",
            "message.mood",
            "tool_call.riskScore",
            "Teleport",
            "tool_result.cacheHit",
            ""
        ]
    );
}

#[test]
fn an_mcp_tool_is_no_unknown_tool() {
    let conversation = conversation("mcp_tool");
    let tool = calls(&conversation)[0].1;
    assert_eq!(tool.tool_name, "linear___get_issue");
    let ActionType::Tool { arguments: Some(arguments), .. } = &tool.action_type else { panic!() };
    assert!(arguments.get().contains("12345678901234567890123"), "every digit is kept");
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn a_sub_agent_is_a_task_with_its_answer() {
    let conversation = conversation("task");
    let (call, tool) = calls(&conversation)[0];
    assert_eq!(call.content, "Count the files");
    let ActionType::TaskCreate { prompt, subagent_type, .. } = &tool.action_type else { panic!() };
    assert_eq!(*prompt, Some("Count all files below src.".into()));
    assert_eq!(*subagent_type, Some("worker".into()));
    assert_eq!(results(&conversation), ["toolu_1=success:session_id: s-child\nThere are 12."]);
}

#[test]
fn cached_tokens_are_input_tokens() {
    let conversation = conversation("usage");
    let usage = conversation.summary.usage.unwrap();
    assert_eq!(usage.input_tokens, Some(1107));
    assert_eq!((usage.cache_read_tokens, usage.cache_write_tokens), (Some(1000), Some(7)));
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (Some(20), Some(5)));
    assert_eq!(warnings(&conversation), [(WarningKind::UnknownField, 1)], "factory_credits");
}

#[test]
fn an_init_may_lack_its_tools() {
    let conversation = conversation("init_without_tools");
    let session = session(&conversation);
    assert_eq!(session.model, Some("claude-opus-4-8".into()));
    assert_eq!(session.reasoning_effort, Some("high".into()));
    assert_eq!(session.tools, Some(vec![]), "of the second init, whose list is empty");
    assert_eq!(conversation.entries.len(), 1, "the model is stated once");
}

#[test]
fn a_stream_may_be_cut_at_both_ends() {
    let conversation = conversation("cut_stream");
    assert_eq!(session(&conversation).session_id.as_ref().unwrap().as_str(), "s-1");
    assert_eq!(session(&conversation).outcome, None);
    assert_eq!(results(&conversation), ["call_1=unfinished:"]);
    assert_eq!(
        warnings(&conversation),
        [
            (WarningKind::Malformed, 1),
            (WarningKind::UnclaimedResult, 1),
            (WarningKind::UnfinishedCall, 1)
        ]
    );
    let entries = entries(&conversation);
    assert_eq!(entries.last().unwrap(), "diagnostic: of a call before the cut");
}

#[test]
fn half_a_character_becomes_a_replacement_character() {
    let conversation = conversation("lone_surrogates");
    assert_eq!(conversation.entries[1].content, "half \u{FFFD} and whole 😀");
    assert_eq!(results(&conversation), ["call_\u{FFFD}=success:\u{FFFD}"]);
    let ActionType::Tool { arguments: Some(arguments), .. } =
        &calls(&conversation)[0].1.action_type
    else {
        panic!()
    };
    let arguments: Value = serde_json::from_str(arguments.get()).unwrap();
    assert_eq!(arguments["half"], "\u{FFFD}");
    assert_eq!(arguments["key \u{FFFD}"], 1);
}

#[test]
fn numbers_beyond_every_integer_are_kept_or_reported() {
    let conversation = conversation("large_numbers");
    let ActionType::Tool { arguments: Some(arguments), .. } =
        &calls(&conversation)[0].1.action_type
    else {
        panic!()
    };
    let text: String = serde_json::from_str(arguments.get()).unwrap();
    for number in ["18446744073709551617", "3.14159265358979323846264338327950288", "1e999"] {
        assert!(text.contains(number), "{text}");
    }
    assert_eq!(results(&conversation), ["call_1=success:18446744073709551617"]);
    assert_eq!(session(&conversation).turns, None, "not a number of turns");
    assert_eq!(session(&conversation).duration_ms, Some(250), "a number spelt as a string");
    assert_eq!(conversation.summary.usage.unwrap().input_tokens, Some(7));
    assert_eq!(warnings(&conversation), [(WarningKind::UnknownField, 2)]);
}
