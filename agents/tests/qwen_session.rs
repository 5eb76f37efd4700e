//! Qwen Code's session files: every fixture, from bytes to the conversation.

use std::path::PathBuf;

use foldline_domain::{
    ActionType, CommandExitStatus, FileChange, TokenUsage, ToolStatus, WarningKind,
};

use crate::replay::{
    Replay, all_logs, check_all_known, check_laws, fixture, is_capture, is_regular,
    survives_any_value,
};

const FORMAT: &str = "qwen-session";

/// The conversation of a log, after a comparison with its snapshot.
fn log(name: &str) -> Replay {
    let log = Replay::of(FORMAT, &fixture(FORMAT, name));
    let document = serde_json::to_value(&log.conversation).unwrap();
    insta::assert_snapshot!(name, serde_json::to_string_pretty(&document).unwrap());
    log
}

/// Every session file; the captures are in the same folder as those of streams.
fn logs() -> impl Iterator<Item = PathBuf> {
    let is_tree = |log: &PathBuf| std::fs::read_to_string(log).unwrap().contains("parentUuid");
    let captures = all_logs("qwen").into_iter().filter(|log| is_capture(log));
    all_logs(FORMAT).into_iter().chain(captures.filter(is_tree))
}

fn used(input: u64, output: u64, cached: u64, reasoning: u64) -> TokenUsage {
    TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cache_read_tokens: Some(cached),
        reasoning_tokens: Some(reasoning),
        ..TokenUsage::default()
    }
}

#[test]
fn every_log_obeys_the_laws() {
    logs().for_each(|log| check_laws(FORMAT, &log));
}

#[test]
fn nothing_in_regular_logs_is_strange() {
    logs().filter(|log| is_regular(log)).for_each(|log| check_all_known(FORMAT, &log));
}

#[test]
fn any_value_in_any_place_is_survived() {
    survives_any_value(FORMAT, FORMAT);
}

#[test]
fn a_session_is_told_part_by_part() {
    let log = log("session");
    let context =
        "<qwen:user-prompt-submit-context>\nIt is Monday.\n</qwen:user-prompt-submit-context>";
    assert_eq!(
        log.lines(),
        [
            "user_message: Mend the greeting.",
            &format!("system_message: {context}"),
            "model_change: model: qwen-a",
            "thinking: The greeting is a file.",
            "assistant_message: I look at it.",
            "read_file(success): greet.txt",
            "run_shell_command(failed): ls missing",
            "edit(success): greet.txt",
            "user_message: Politely, please.",
            "assistant_message: Mended.",
        ]
    );
    assert_eq!(log.result_of("c-1"), "helo\n", "as the model reads it");
    assert_eq!(log.tool("c-1").duration_ms, Some(250));
    assert_eq!(log.usage(), used(3500, 110, 2600, 30));
    let session = log.session();
    assert_eq!(session.title, Some("A greeting".into()));
    assert!(session.started_at.is_some());
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn a_commands_output_is_taken_out_of_what_the_model_is_told() {
    let log = log("session");
    let ActionType::CommandRun { result: Some(result), .. } = &log.tool("c-2").action_type else {
        panic!("a command that ended")
    };
    assert_eq!(result.exit_status, Some(CommandExitStatus::ExitCode { code: 2 }));
    assert_eq!(result.output, Some("ls: missing: No such file".into()));
}

#[test]
fn an_edit_has_the_line_numbers_of_its_file() {
    let log = log("session");
    let ActionType::FileEdit { changes, .. } = &log.tool("c-3").action_type else { panic!() };
    let [FileChange::Edit { unified_diff, has_line_numbers, .. }] = changes.as_slice() else {
        panic!("one edit")
    };
    assert!(*has_line_numbers);
    assert_eq!(*unified_diff, "@@ -4,1 +4,1 @@\n-helo\n+hello\n");
}

#[test]
fn every_tool_has_its_action() {
    let log = log("tools");
    let actions: Vec<_> = log.tools().iter().map(|tool| tool.action_type.name()).collect();
    assert_eq!(
        actions,
        [
            "file_edit",
            "file_read",
            "search",
            "web_fetch",
            "todo_management",
            "task_create",
            "tool",
            "tool",
            "tool"
        ]
    );
    assert!(log.lines().contains(&"system_message: [image: image/png, 5 bytes]".to_owned()));
    assert_eq!(log.warnings(WarningKind::UnknownTool), 1);
    assert_eq!(log.warnings(WarningKind::UnknownField), 0);
}

#[test]
fn what_fails_says_why() {
    let log = log("failure");
    let status = |id: &str| log.tool(id).status.name();
    assert_eq!(
        ["c-1", "c-2", "c-3", "c-4", "c-5"].map(status),
        ["denied", "failed", "cancelled", "unfinished", "failed"]
    );
    assert!(matches!(&log.tool("c-1").status, ToolStatus::Denied { reason: Some(_) }));
    assert_eq!(log.result_of("c-5"), "it never began");
    assert!(log.lines().contains(&"error_message: 429 quota is spent".to_owned()));
}

#[test]
fn the_program_speaks_for_itself() {
    let log = log("notices");
    assert_eq!(
        log.lines(),
        [
            "user_message: /about",
            "system_message: All is well",
            r#"system_message: {"type":"about","systemInfo":{"cliVersion":"0.23.0"}}"#,
            "model_change: model: qwen-b",
            "system_message: files read into the prompt",
            "user_message: @a.txt what is it?\n[image: image/png, 5 bytes]\n[file: file:///srv/ada/r.pdf]",
            "assistant_message: A greeting.",
            "system_message: A task is done.",
            "compaction: conversation compacted",
            "system_message: conversation rewound",
            "system_message: Every morning",
        ]
    );
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn what_was_copied_from_another_session_counts_there() {
    let log = log("fork");
    assert_eq!(log.lines().len(), 5);
    assert_eq!(log.usage(), used(130, 15, 90, 5));
    assert_eq!(log.session().parent_session_id().unwrap().as_str(), "s-1");
}

#[test]
fn a_sub_agents_own_file_says_whose_it_is() {
    let session = log("subagent").session();
    assert_eq!(session.session_id.as_ref().unwrap().as_str(), "explore-7f");
    assert_eq!(session.parent_session_id().unwrap().as_str(), "s-1");
    assert_eq!(log("subagent").lines()[0], "user_message: Find it");
}

#[test]
fn nothing_odd_is_lost() {
    let log = log("oddities");
    let events = serde_json::to_string(&log.events).unwrap();
    for part in [
        "startTime",
        "glued",
        "together",
        "strange",
        "kept",
        "untyped",
        "gold",
        "blue",
        "bare",
        "calm",
        "early",
        "lines",
        "origin",
        "twice",
        "stranger",
        "whose?",
        "skipped",
        "novel",
        "first of two",
        "of none",
        "second of two",
        "yesterday",
        "many",
    ] {
        assert!(events.contains(part), "{part}");
    }
    assert_eq!(
        log.result_of("c-3"),
        "second of two\n[image: image/png, 5 bytes]\n{\"novel\":\"part\"}"
    );
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 2);
    assert_eq!(log.warnings(WarningKind::UnexpectedValue), 1);
    assert_eq!(log.warnings(WarningKind::UnknownBlock), 2);
    assert_eq!(log.warnings(WarningKind::DuplicateCall), 1);
    assert_eq!(log.warnings(WarningKind::DuplicateResult), 1);
    assert_eq!(log.warnings(WarningKind::UnclaimedResult), 1);
    assert_eq!(log.warnings(WarningKind::InferredResult), 1);
}
