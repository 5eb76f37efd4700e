//! opencode's stream: every fixture, from bytes to the conversation.

use foldline_domain::{
    ActionType, CommandExitStatus, DomainEvent, FileChange, Outcome, TokenUsage, ToolStatus,
    WarningKind,
};

use crate::replay::{
    Replay, all_logs, check_all_known, check_laws, fixture, is_regular, survives_any_value,
};

const FORMAT: &str = "opencode";

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
fn a_session_of_three_steps() {
    let log = log("session");
    assert_eq!(
        log.lines(),
        [
            "thinking: The greeting is a file.",
            "bash(failed): ls missing",
            "read(success): /srv/ada/app/greet.txt",
            "assistant_message: I mend it.",
            "edit(success): /srv/ada/app/greet.txt",
            "assistant_message: Mended.",
        ]
    );
    let code = CommandExitStatus::ExitCode { code: 2 };
    assert_eq!(exit_status(&log, "call_b"), Some(code));
    assert_eq!(log.tool("call_b").duration_ms, Some(300));
    let message = |id: &str| log.entry(id).metadata.as_ref()?.message_id.clone();
    assert_eq!(message("call_a"), Some("msg_1".into()));
    let session = log.session();
    assert_eq!(session.outcome, Some(Outcome::Success));
    assert_eq!(session.outcome_reason, Some("stop".into()));
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn an_edit_has_the_line_numbers_of_its_file() {
    let log = log("session");
    let [FileChange::Edit { unified_diff, has_line_numbers, .. }] = changes(&log, "call_c") else {
        panic!("one edit")
    };
    assert!(*has_line_numbers);
    assert_eq!(*unified_diff, "@@ -4,1 +4,1 @@\n-helo\n+hello\n");
}

#[test]
fn the_tokens_of_all_steps_add_up() {
    let used = TokenUsage {
        input_tokens: Some(1100 + 1160 + 1210),
        output_tokens: Some(25 + 30 + 4),
        cache_read_tokens: Some(3300),
        cache_write_tokens: Some(10),
        reasoning_tokens: Some(5),
        cost_usd: Some(0.5),
        ..TokenUsage::default()
    };
    assert_eq!(log("session").usage(), used);
    let older = log("untimed").usage();
    assert_eq!((older.input_tokens, older.output_tokens), (Some(10_043), Some(53)));
}

#[test]
fn every_tool_has_its_action() {
    let log = log("tools");
    let actions: Vec<_> = log.tools().iter().map(|tool| tool.action_type.name()).collect();
    assert_eq!(
        actions,
        [
            "file_edit",
            "file_edit",
            "file_edit",
            "file_read",
            "search",
            "search",
            "search",
            "web_fetch",
            "todo_management",
            "todo_management",
            "task_create",
            "question",
            "tool",
            "tool",
            "tool",
            "file_read"
        ]
    );
    assert_eq!((changes(&log, "t-2").len(), changes(&log, "t-3").len()), (2, 2));
    assert_eq!(log.result_of("t-11"), "There is one.");
    assert_eq!(log.warnings(WarningKind::UnknownTool), 1);
}

#[test]
fn files_beside_an_output_are_placeholders() {
    assert_eq!(
        log("tools").result_of("t-16"),
        "Image read successfully\n[image: image/png, 5 bytes]\n[file: report.pdf]\n[file: text/plain]"
    );
}

#[test]
fn what_fails_says_why() {
    let log = log("failure");
    assert_eq!(log.tool("t-1").status, ToolStatus::Failed);
    assert_eq!(log.result_of("t-1"), "Error: File not found: none");
    assert!(matches!(log.tool("t-2").status, ToolStatus::Denied { .. }));
    assert_eq!(exit_status(&log, "t-2"), None, "it never ran");
    assert_eq!(exit_status(&log, "t-3"), Some(CommandExitStatus::Success { success: false }));
    assert_eq!(log.tool("t-4").status, ToolStatus::Cancelled);
    let ends = log.events.iter().filter_map(|event| match event {
        DomainEvent::Session(facts) => Some((facts.outcome?, facts.outcome_reason.clone()?)),
        _ => None,
    });
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [
            (Outcome::LimitReached, "length".into()),
            (Outcome::Failed, "Rate limit exceeded".into()),
            (Outcome::Failed, "no key".into()),
            (Outcome::LimitReached, "MessageOutputLengthError".into()),
            (Outcome::Cancelled, "The operation was aborted.".into()),
        ]
    );
}

#[test]
fn a_run_may_be_an_error_alone() {
    let log = log("quota");
    assert_eq!(log.lines(), ["error_message: You exceeded your quota"]);
    assert_eq!(log.session().outcome, Some(Outcome::Failed));
}

#[test]
fn nothing_odd_is_lost() {
    let log = log("oddities");
    let document = serde_json::to_string(&log.conversation).unwrap();
    for part in ["deep", "untyped", "twice", "by its part", "nameless", "red", "no hunk"] {
        assert!(document.contains(part), "{part}");
    }
    assert_eq!(log.result_of("t-1"), "whole");
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 2);
    assert_eq!(log.warnings(WarningKind::UnexpectedValue), 1);
    assert_eq!(log.warnings(WarningKind::DuplicateCall), 1);
    assert_eq!(log.warnings(WarningKind::DuplicateResult), 1);
}

#[test]
fn two_sessions_of_one_stream() {
    assert_eq!(log("two-sessions").session().session_id.unwrap().as_str(), "ses_b2");
}
