//! Cursor's stream: every fixture, from bytes to the conversation.

use foldline_domain::{
    ActionType, CommandExitStatus, DomainEvent, FileChange, Outcome, TokenUsage, ToolStatus,
    WarningKind,
};

use crate::replay::{
    Replay, all_logs, check_all_known, check_laws, fixture, is_regular, survives_any_value,
};

const FORMAT: &str = "cursor";

/// The conversation of a log, after a comparison with its snapshot.
fn log(name: &str) -> Replay {
    let log = Replay::of(FORMAT, &fixture(FORMAT, name));
    let document = serde_json::to_value(&log.conversation).unwrap();
    insta::assert_snapshot!(name, serde_json::to_string_pretty(&document).unwrap());
    log
}

fn exit_status(log: &Replay, id: &str) -> Option<CommandExitStatus> {
    let ActionType::CommandRun { result, .. } = &log.tool(id).action_type else {
        panic!("{id} is a command")
    };
    result.as_ref()?.exit_status
}

fn changes<'l>(log: &'l Replay, id: &str) -> &'l [FileChange] {
    let ActionType::FileEdit { changes, .. } = &log.tool(id).action_type else {
        panic!("{id} is an edit")
    };
    changes
}

#[test]
fn every_log_obeys_the_laws() {
    all_logs(FORMAT).iter().for_each(|log| check_laws(FORMAT, log));
}

#[test]
fn nothing_in_regular_logs_is_strange() {
    let logs = all_logs(FORMAT).into_iter().filter(|log| is_regular(log));
    logs.for_each(|log| check_all_known(FORMAT, &log));
}

#[test]
fn any_value_in_any_place_is_survived() {
    survives_any_value(FORMAT, FORMAT);
}

#[test]
fn a_session_of_two_calls_at_once_and_an_edit() {
    let log = log("session");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: Auto",
            "user_message: Mend the greeting",
            "thinking: The greeting is a file.",
            "shellToolCall(failed): ls missing",
            "readToolCall(success): greet.txt",
            "thinking: Now I know.",
            "assistant_message: I mend it.",
            "editToolCall(success): greet.txt",
            "assistant_message: Mended.\n",
        ]
    );
    let code = CommandExitStatus::ExitCode { code: 2 };
    assert_eq!(exit_status(&log, "tool_b"), Some(code));
    assert_eq!(log.tool("tool_b").duration_ms, Some(300));
    assert_eq!(log.result_of("call_a\nfc_1"), "helo\n");
    let message = |id: &str| log.entry(id).metadata.as_ref()?.message_id.clone();
    assert_eq!(message("tool_c"), Some("m-2".into()));
    let session = log.session();
    assert_eq!((session.outcome, session.duration_ms), (Some(Outcome::Success), Some(5000)));
    assert!(session.started_at.unwrap() < session.ended_at.unwrap());
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn an_edit_has_the_line_numbers_of_its_file() {
    let log = log("session");
    let [FileChange::Edit { unified_diff, has_line_numbers, .. }] = changes(&log, "tool_c") else {
        panic!("one edit")
    };
    assert!(*has_line_numbers);
    assert_eq!(*unified_diff, "@@ -1,2 +1,2 @@\n a\n-helo\n+hello\n");
    let written = FileChange::Write { path: "new.py".into(), content: "one\ntwo\n".into() };
    assert_eq!(changes(&self::log("tools"), "t-1"), [written]);
}

#[test]
fn cached_input_is_input_whether_it_is_counted_apart_or_not() {
    let usage = |input, output, read, write| TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cache_read_tokens: Some(read),
        cache_write_tokens: Some(write),
        ..TokenUsage::default()
    };
    assert_eq!(log("session").usage(), usage(1000, 50, 800, 0));
    assert_eq!(log("partial").usage(), usage(900, 9, 800, 10));
}

#[test]
fn every_tool_has_its_action() {
    let log = log("tools");
    let actions: Vec<_> = log.tools().iter().map(|tool| tool.action_type.name()).collect();
    let plain = ["tool", "tool", "web_fetch", "tool"];
    assert_eq!(
        actions[..6],
        ["file_edit", "file_edit", "file_edit", "file_edit", "file_read", "search"]
    );
    assert_eq!(
        actions[6..11],
        ["search", "todo_management", "todo_management", "task_create", "task_create"]
    );
    assert_eq!([actions[11], actions[12], actions[14], actions[15]], plain);
    assert_eq!(actions[16..19], ["plan_presentation", "question", "tool"]);
    assert_eq!(actions[19..], ["command_run", "command_run", "tool", "tool", "todo_management"]);
    assert_eq!(log.result_of("t-7"), "README.md\ndoc/a.md");
    assert_eq!(log.result_of("t-12"), "The drawer is open\n[image: image/png, 5 bytes]");
    assert_eq!(log.tool("t-13").status, ToolStatus::Failed);
    assert_eq!(log.tool("t-12").tool_name, "mcp__desk__open");
    assert_eq!(log.warnings(WarningKind::UnknownTool), 1);
}

#[test]
fn the_list_of_things_to_do_is_as_the_call_left_it() {
    let log = log("tools");
    let ActionType::TodoManagement { todos, operation, .. } = &log.tool("t-9").action_type else {
        panic!("a list")
    };
    let statuses: Vec<_> = todos.iter().map(|todo| todo.status.to_string()).collect();
    assert_eq!((statuses, &*operation.decode()), (vec!["completed".to_owned(); 2], "update"));
}

#[test]
fn a_sub_agents_words_belong_to_the_call_that_began_it() {
    let log = log("tools");
    let of_task = log.conversation.entries.iter().filter(|entry| {
        let parent = entry.metadata.as_ref().and_then(|metadata| metadata.parent_corr_id.as_ref());
        parent.is_some_and(|id| id.as_str() == "t-10")
    });
    let said: Vec<_> = of_task.map(|entry| entry.content.to_string()).collect();
    assert_eq!(said, ["I look.", "There is one."]);
    // Its last message is the answer to the call, and is shown once.
    assert_eq!(log.result_of("t-10"), "");
    assert_eq!(log.tool("t-10").duration_ms, Some(8490));
}

#[test]
fn a_command_in_the_background_has_not_exited() {
    let log = log("tools");
    assert_eq!(exit_status(&log, "t-20"), None);
    assert_eq!(exit_status(&log, "t-21"), Some(CommandExitStatus::ExitCode { code: 0 }));
    assert_eq!(log.result_of("t-21"), "a\n");
}

#[test]
fn arguments_that_are_no_object_are_kept() {
    let log = log("tools");
    for (id, given) in [("t-22", r#"["not","an object"]"#), ("t-23", r#""just text""#)] {
        let ActionType::Tool { arguments: Some(arguments), .. } = &log.tool(id).action_type else {
            panic!("{id} has arguments")
        };
        assert_eq!(arguments.get(), given);
    }
}

#[test]
fn what_fails_says_why() {
    let log = log("failure");
    assert_eq!(log.result_of("t-1"), "Path is a directory, not a file");
    assert_eq!(log.result_of("t-2"), "Permission denied");
    let reason = Some("Not in the allowlist".into());
    assert_eq!(log.tool("t-3").status, ToolStatus::Denied { reason });
    assert_eq!(exit_status(&log, "t-3"), None, "it never ran");
    let reason = Some("It is outside of the workspace".into());
    assert_eq!(log.tool("t-4").status, ToolStatus::Denied { reason });
    assert_eq!(log.tool("t-5").status, ToolStatus::Cancelled);
    assert_eq!(log.tool("t-6").status, ToolStatus::Failed);
    assert_eq!(exit_status(&log, "t-7"), Some(CommandExitStatus::Success { success: false }));
    assert_eq!(log.tool("t-8").status, ToolStatus::Denied { reason: None });
    assert_eq!(log.tool("t-10").status, ToolStatus::Unfinished);
    let session = log.session();
    assert_eq!(session.outcome, Some(Outcome::Failed));
    assert_eq!(session.outcome_reason, Some("Usage limit reached".into()));
}

#[test]
fn an_answer_in_pieces_is_one_entry_that_grows() {
    let log = log("partial");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: Auto",
            "user_message: Greet",
            "thinking: Hm",
            "assistant_message: \nHello, Ada.",
            "shellToolCall(success): date",
            "assistant_message: It is today.",
            "user_message: Again",
            "assistant_message: Once",
            "assistant_message: Something else.",
            "thinking: Cut he",
        ]
    );
    let grown = log.events.iter().filter(|event| matches!(event, DomainEvent::GrowEntry { .. }));
    assert_eq!(grown.count(), 4);
}

#[test]
fn nothing_odd_is_lost() {
    let log = log("oddities");
    let document = serde_json::to_string(&log.events).unwrap();
    for part in
        ["its beginning is missing", "nobody knows", "free", "Connection lost", "deep", "untyped"]
    {
        assert!(document.contains(part), "{part}");
    }
    for part in ["blue", "calm", "paused", "fine", "no kind", "by its inner id", "model", "dark"] {
        assert!(document.contains(part), "{part}");
    }
    for part in
        ["Another purpose", "north", "fast", "twice", "make again", "plain", "soft", "tango"]
    {
        assert!(document.contains(part), "{part}");
    }
    for part in ["rose", "no object", "all of it", "nameless", "Another text.", "earth"] {
        assert!(document.contains(part), "{part}");
    }
    assert_eq!(log.result_of("t-0"), "its beginning is missing");
    assert_eq!(log.tool("t-0").duration_ms, None, "it began at some time before");
    assert_eq!(log.result_of("t-3"), "whole");
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 4);
    assert_eq!(log.warnings(WarningKind::UnknownBlock), 3);
    assert_eq!(log.warnings(WarningKind::DuplicateCall), 1);
    assert_eq!(log.warnings(WarningKind::DuplicateResult), 1);
    assert_eq!(log.warnings(WarningKind::InferredResult), 1);
    assert_eq!(log.warnings(WarningKind::UnclaimedResult), 1);
}

/// The results of two calls that are open at once, in either order.
#[test]
fn results_go_to_their_calls_by_id() {
    let text = String::from_utf8(fixture(FORMAT, "session")).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    let ends: Vec<_> =
        (0..lines.len()).filter(|&n| lines[n].contains(r#""completed","call_id""#)).collect();
    lines.swap(ends[0], ends[1]);
    let swapped = Replay::of(FORMAT, lines.join("\n").as_bytes());
    let log = Replay::of(FORMAT, text.as_bytes());
    assert_eq!(swapped.lines(), log.lines());
    assert_eq!(swapped.result_of("call_a\nfc_1"), log.result_of("call_a\nfc_1"));
}
