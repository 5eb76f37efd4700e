//! Droid's session files, from the raw lines to the conversation.

use foldline_domain::{ActionType, CommandExitStatus, Outcome, ToolStatus, WarningKind};

use crate::replay::{
    Replay, all_logs, check_all_known, check_laws, fixture, is_regular, survives_any_value,
};

const FORMAT: &str = "droid-session";
const FOLDER: &str = "droid-session";

fn session(name: &str) -> Replay {
    Replay::of(FORMAT, &fixture(FOLDER, name))
}

#[test]
fn every_log_obeys_the_laws() {
    for log in all_logs(FOLDER) {
        check_laws(FORMAT, &log);
    }
}

#[test]
fn nothing_in_regular_logs_is_strange() {
    for log in all_logs(FOLDER).iter().filter(|log| is_regular(log)) {
        check_all_known(FORMAT, log);
    }
}

#[test]
fn any_value_in_any_place_is_survived() {
    survives_any_value(FORMAT, FOLDER);
}

#[test]
fn a_session_is_a_conversation() {
    let log = session("session");
    assert_eq!(
        log.lines(),
        [
            "system_message: <system-reminder>Today is Monday.</system-reminder>",
            "user_message: Fix the tests",
            "user_message: Contents of a.rs:\nfn a() {}\n",
            "model_change: model: gpt-a",
            "thinking: Run them first.",
            "assistant_message: Running.",
            "Execute(failed): cargo test",
            "Read(success): a.rs",
            "TodoWrite(success): todo list",
            "model_change: model: gpt-b",
            "Edit(failed): a.rs",
            "assistant_message: I could not.",
        ]
    );
    assert!(log.conversation.summary.warnings.is_empty());
    let session = log.session();
    assert_eq!(session.session_id.as_ref().unwrap().as_str(), "s-1");
    assert_eq!(session.parent_session_id().unwrap().as_str(), "s-0");
    assert_eq!(session.agent, Some("droid".into()));
    assert_eq!(session.title, Some("My title".into()));
    assert_eq!(session.cwd, Some("/srv/ada/app".into()));
    assert_eq!(session.model, Some("gpt-b".into()));
    assert_eq!(session.version, None, "the version is the file's");
}

#[test]
fn results_find_their_calls_by_id() {
    let log = session("session");
    let ActionType::CommandRun { result: Some(result), .. } = &log.tool("t1").action_type else {
        panic!("a command with its result")
    };
    assert_eq!(result.exit_status, Some(CommandExitStatus::ExitCode { code: 101 }));
    assert_eq!(log.result_of("t1"), "1 failed");
    assert_eq!(log.tool("t1").duration_ms, Some(2000));
    assert_eq!(log.result_of("t4"), "not found\n[image: image/png, 5 bytes]");
    let ActionType::TodoManagement { todos, .. } = &log.tool("t3").action_type else {
        panic!("a todo list")
    };
    assert_eq!(todos[0].status, "in_progress");
}

#[test]
fn one_strange_block_leaves_its_message() {
    let log = session("blocks");
    let lines = log.lines();
    for line in [
        "user_message: look\n[image: image/jpeg, 7 bytes]",
        r#"diagnostic: {"type":"telepathy","x":1}"#,
        "user_message: a plain string",
        "assistant_message: I see.",
        "mystery_tool(success): mystery_tool",
        "db___query(success): db___query",
    ] {
        assert!(lines.contains(&line.to_owned()), "{line}: {lines:#?}");
    }
    assert_eq!(log.warnings(WarningKind::UnknownBlock), 2);
    assert_eq!(log.warnings(WarningKind::UnknownField), 1);
    assert_eq!(log.warnings(WarningKind::UnknownTool), 1);
}

#[test]
fn compaction_and_ends_are_told() {
    let log = session("end");
    assert_eq!(
        log.lines(),
        [
            "compaction: context compacted\nWe fixed tests.",
            "assistant_message: Bye.",
            "system_message: turn ended: completed",
            "system_message: session ended: interrupted",
        ]
    );
    assert_eq!(log.session().outcome, Some(Outcome::Cancelled));
    assert_eq!(log.session().outcome_reason, Some("interrupted".into()));
}

#[test]
fn a_cut_file_keeps_what_it_has() {
    let log = session("cut");
    assert_eq!(log.result_of("t1"), "the answer", "the result came before its call");
    assert_eq!(log.tool("t2").status, ToolStatus::Unfinished);
    assert!(log.lines().contains(&"diagnostic: whose?".to_owned()));
    assert_eq!(log.warnings(WarningKind::UnclaimedResult), 1);
    assert_eq!(log.warnings(WarningKind::Malformed), 1);
}

#[test]
fn the_settings_beside_a_session_are_no_session() {
    let log = session("sidecar");
    assert!(log.conversation.summary.session.is_none());
    assert_eq!(log.warnings(WarningKind::UnexpectedValue), 1);
    let pretty =
        b"{\n  \"model\": \"gpt-a\",\n  \"tokenUsage\": {\n    \"inputTokens\": 1\n  }\n}\n";
    let log = Replay::of(FORMAT, pretty);
    assert!(log.conversation.summary.session.is_none());
}

#[test]
fn other_formats_are_not_guessed_at() {
    let log = session("oddities");
    assert_eq!(log.lines().iter().filter(|line| line.starts_with("diagnostic")).count(), 3);
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 2);
    assert_eq!(log.warnings(WarningKind::ForeignRecord), 1);
    assert!(log.lines().contains(&"assistant_message: ok".to_owned()));
    assert!(log.tools().is_empty());
}
