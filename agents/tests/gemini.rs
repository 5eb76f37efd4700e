//! Gemini's stream: every fixture, from bytes to the conversation.

use foldline_domain::{
    ActionType, CommandExitStatus, DomainEvent, Outcome, TokenUsage, ToolStatus, WarningKind,
};

use crate::replay::{
    Replay, all_logs, check_all_known, check_laws, fixture, is_regular, survives_any_value,
};

const FORMAT: &str = "gemini";

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
fn an_answer_in_pieces_is_one_entry() {
    let log = log("session");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: gemini-a",
            "user_message: Mend the greeting\n",
            "assistant_message: I look at `greet.txt` first.",
            "read_file(success): greet.txt",
            "run_shell_command(failed): ls missing",
            "assistant_message: I write it.",
            "write_file(success): greet.txt",
            "assistant_message: Mended.\nIt says hello.",
        ]
    );
    let grown = log.events.iter().filter(|event| event.name() == "grow_entry").count();
    assert_eq!(grown, 4);
    assert_eq!(log.session().duration_ms, Some(4200));
    assert_eq!(log.session().outcome, Some(Outcome::Success));
}

#[test]
fn a_failed_command_says_so_in_place_of_its_output() {
    let log = log("session");
    let code = CommandExitStatus::ExitCode { code: 2 };
    assert_eq!(exit_status(&log, "run_shell_command__call_7"), Some(code));
    assert!(log.tool("read_file_1_0").action_type.result_text().is_none());
}

#[test]
fn the_total_counts_reasoning_and_the_models_count_once() {
    let used = |input, output, cached, reasoning| TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cache_read_tokens: Some(cached),
        reasoning_tokens: Some(reasoning),
        ..TokenUsage::default()
    };
    assert_eq!(log("session").usage(), used(1000, 300, 400, 100));
    let log = log("tools");
    assert_eq!(log.usage(), used(1100, 340, 400, 130));
    let models = log.events.iter().filter_map(|event| match event {
        DomainEvent::Usage { model, .. } => Some(model.as_ref().unwrap().to_string()),
        _ => None,
    });
    assert_eq!(models.collect::<Vec<_>>(), ["gemini-lite", "gemini-a"]);
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
            "file_read",
            "search",
            "search",
            "search",
            "web_fetch",
            "todo_management",
            "question",
            "plan_presentation",
            "task_create",
            "tool",
            "tool",
            "tool",
            "command_run"
        ]
    );
    assert_eq!(log.result_of("t-12"), "The drawer is open");
    assert_eq!(log.warnings(WarningKind::UnknownTool), 1);
    assert_eq!(exit_status(&log, "t-15"), None, "the log does not say");
}

#[test]
fn what_fails_says_why() {
    let log = log("failure");
    assert_eq!(log.tool("t-1").status, ToolStatus::Failed);
    assert_eq!(log.result_of("t-1"), "File not found.\nFile not found: none.txt");
    assert!(matches!(log.tool("t-2").status, ToolStatus::Denied { .. }));
    assert_eq!(exit_status(&log, "t-2"), None, "it never ran");
    assert_eq!(exit_status(&log, "t-3"), Some(CommandExitStatus::Success { success: false }));
    assert_eq!(log.tool("t-4").status, ToolStatus::Unfinished);
    assert_eq!(
        log.lines()[6..],
        [
            "assistant_message: I can",
            "system_message: Loop detected, stopping execution",
            "error_message: Maximum session turns exceeded",
            "error_message: Reached max session turns",
        ]
    );
    let session = log.session();
    assert_eq!(session.outcome, Some(Outcome::LimitReached));
    assert_eq!(session.outcome_reason, Some("Reached max session turns".into()));
}

#[test]
fn each_run_ends_in_its_own_way() {
    let log = log("errors");
    let ends = log.events.iter().filter_map(|event| match event {
        DomainEvent::Session(facts) if facts.ended_at.is_some() => {
            Some((facts.outcome?, facts.outcome_reason.as_ref()?.to_string()))
        }
        _ => None,
    });
    let end = |outcome, reason: &str| (outcome, reason.to_owned());
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [
            end(Outcome::Failed, "The model returned an empty response"),
            end(Outcome::Failed, "quota is spent"),
            end(Outcome::Cancelled, "Operation cancelled."),
        ]
    );
    assert_eq!(log.warnings(WarningKind::UnknownField), 1, "an unknown status");
    let told = log.lines().iter().filter(|line| line.ends_with("quota is spent")).count();
    assert_eq!(told, 1);
}

#[test]
fn an_answer_that_comes_as_a_whole_replaces_its_pieces_alone() {
    let log = log("two-runs");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: gemini-a",
            "user_message: one",
            "assistant_message: The fir",
            "model_change: model: gemini-b",
            "user_message: two",
            "glob(unfinished): *",
            "assistant_message: The second.",
            "user_message: three",
            "assistant_message: Third.",
            "assistant_message: Whole at once.",
            "assistant_message: Some",
            "assistant_message: thing else.",
            "assistant_message: Cut he",
        ]
    );
    assert_eq!(log.session().session_id.unwrap().as_str(), "s-2");
}

#[test]
fn nothing_odd_is_lost() {
    let log = log("oddities");
    let document = serde_json::to_string(&log.conversation).unwrap();
    for part in ["Loaded cached", "deep", "a chat file", "early", "stranger", "twice", "whose?"] {
        assert!(document.contains(part), "{part}");
    }
    assert!(log.lines().contains(&"assistant_message: Pieces of one answer".to_owned()));
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 1);
    assert_eq!(log.warnings(WarningKind::UnexpectedValue), 1);
    assert_eq!(log.warnings(WarningKind::PlainText), 2);
    assert_eq!(log.warnings(WarningKind::DuplicateCall), 1);
    assert_eq!(log.warnings(WarningKind::DuplicateResult), 1);
    assert_eq!(log.warnings(WarningKind::UnclaimedResult), 1);
    assert_eq!(log.warnings(WarningKind::InferredResult), 1);
}

#[test]
fn a_call_that_names_its_sub_agent_later_leads_to_it() {
    let message = |call: serde_json::Value| {
        serde_json::json!({"id": "a", "timestamp": "2026-03-04T09:00:02.000Z", "type": "gemini",
            "content": "", "model": "g", "toolCalls": [call]})
        .to_string()
    };
    let call = |agent: Option<&str>| {
        let mut call = serde_json::json!({"id": "c", "name": "codebase_investigator", "args": {},
            "status": "executing", "timestamp": "2026-03-04T09:00:02.000Z"});
        agent.into_iter().for_each(|agent| call["agentId"] = agent.into());
        message(call)
    };
    let header = r#"{"sessionId":"s","projectHash":"00ff","startTime":"2026-03-04T09:00:00.000Z","kind":"main"}"#;
    let lines = [header.to_owned(), call(None), call(Some("sub"))];
    let log = Replay::of("gemini-session", lines.join("\n").as_bytes());
    let child = log.entry("c").metadata.as_ref().unwrap().child_session_id.clone();
    assert_eq!(child.unwrap().as_str(), "sub");
}
