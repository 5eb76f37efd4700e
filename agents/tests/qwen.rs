//! Qwen Code's stream: every fixture, from bytes to the conversation.

use std::path::PathBuf;

use foldline_domain::{
    ActionType, CommandExitStatus, DomainEvent, Outcome, TokenUsage, ToolStatus, WarningKind,
};

use crate::replay::{
    Replay, all_logs, check_all_known, check_laws, fixture, is_regular, survives_any_value,
};

const FORMAT: &str = "qwen";

/// The conversation of a log, after a comparison with its snapshot.
fn log(name: &str) -> Replay {
    let log = Replay::of(FORMAT, &fixture(FORMAT, name));
    let document = serde_json::to_value(&log.conversation).unwrap();
    insta::assert_snapshot!(name, serde_json::to_string_pretty(&document).unwrap());
    log
}

/// Every log of a stream; the captures are in the same folder as those of session files.
fn logs() -> impl Iterator<Item = PathBuf> {
    let is_stream = |log: &PathBuf| !std::fs::read_to_string(log).unwrap().contains("parentUuid");
    all_logs(FORMAT).into_iter().filter(is_stream)
}

fn used(input: u64, output: u64, cached: u64) -> TokenUsage {
    TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cache_read_tokens: Some(cached),
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
fn a_run_is_told_block_by_block() {
    let log = log("session");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: qwen-a",
            "thinking: The greeting is a file.\n",
            "assistant_message: I look at it.",
            "read_file(success): greet.txt",
            "run_shell_command(failed): ls missing",
            "edit(success): greet.txt",
            "assistant_message: Mended.",
        ]
    );
    let ActionType::CommandRun { result: Some(result), .. } = &log.tool("c-2").action_type else {
        panic!("a command that ended")
    };
    assert_eq!(result.exit_status, Some(CommandExitStatus::ExitCode { code: 2 }));
    let session = log.session();
    assert_eq!((session.outcome, session.turns), (Some(Outcome::Success), Some(2)));
    assert_eq!(session.version, Some("0.15.6".into()));
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn cached_input_is_a_part_of_the_input() {
    assert_eq!(log("session").usage(), used(3500, 80, 2800));
}

#[test]
fn what_is_written_in_pieces_is_one_entry() {
    let log = log("partials");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: qwen-a",
            "thinking: Let me see.",
            "assistant_message: I read it.",
            "read_file(success): a.txt",
            "system_message: goal",
            "assistant_message: Done.",
            "error_message: [API Error: 429]",
        ]
    );
    // The streamed message has all data of the complete line.
    let said = log.conversation.entries[2].metadata.as_ref().unwrap();
    assert_eq!(said.message_id, Some("m-2".into()));
    assert_eq!(said.extra.get("mood").unwrap().get(), r#""calm""#);
    let names = log.events.iter().map(DomainEvent::name);
    assert_eq!(names.filter(|name| *name == "open_entry").count(), 4);
    assert_eq!(log.session().outcome, Some(Outcome::Failed), "whatever the end says");
}

#[test]
fn a_cut_stream_keeps_what_was_written() {
    let log = log("cut");
    assert_eq!(
        log.lines()[1..],
        ["assistant_message: I sh", "run_shell_command(unfinished): ls", "glob(unfinished): glob",]
    );
    let ActionType::Tool { arguments, .. } = &log.tool("c-2").action_type else { panic!() };
    assert_eq!(arguments.as_ref().unwrap().get(), r#""{\"pattern\":\"*.""#);
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
            "tool",
            "tool",
            "tool",
            "tool",
            "todo_management",
            "tool"
        ]
    );
    assert_eq!(log.warnings(WarningKind::UnknownTool), 1);
}

#[test]
fn a_sub_agents_work_belongs_to_its_call_and_its_tokens_are_in_the_total() {
    let log = log("subagent");
    let parents = log.conversation.entries.iter().map(|entry| {
        let parent = entry.metadata.as_ref().and_then(|metadata| metadata.parent_corr_id.as_ref());
        parent.map(|id| id.as_str().to_owned())
    });
    let parents: Vec<_> = parents.map(|parent| parent.is_some()).collect();
    assert_eq!(parents, [false, false, true, true, true, true, false]);
    assert_eq!(log.usage(), used(2000, 60, 900));
}

#[test]
fn what_fails_says_why() {
    let log = log("failure");
    let status = |id: &str| log.tool(id).status.name();
    assert_eq!(
        ["c-1", "c-2", "c-3", "c-4", "c-9"].map(status),
        ["denied", "failed", "cancelled", "denied", "denied"]
    );
    assert!(matches!(&log.tool("c-1").status, ToolStatus::Denied { reason: Some(_) }));
    let ends = log.events.iter().filter_map(|event| match event {
        DomainEvent::Session(facts) => {
            Some((facts.outcome?, facts.outcome_reason.as_ref()?.to_string()))
        }
        _ => None,
    });
    let end = |outcome, reason: &str| (outcome, reason.to_owned());
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [
            end(Outcome::LimitReached, "Reached max session turns"),
            end(Outcome::Failed, "[API Error: 401 no key]"),
            end(Outcome::Failed, "The model is gone"),
        ]
    );
}

#[test]
fn an_array_is_a_log_and_its_models_count_apart() {
    let log = log("array");
    let used = log.events.iter().filter_map(|event| match event {
        DomainEvent::Usage { usage, model, .. } => {
            let model = model.as_ref().unwrap().to_string();
            Some((model, usage.input_tokens.unwrap(), usage.output_tokens.unwrap()))
        }
        _ => None,
    });
    let used: Vec<_> = used.collect();
    let (a, b) = ("qwen-a".to_owned(), "qwen-b".to_owned());
    // The message, and what only the end states.
    assert_eq!(used, [(a.clone(), 16_000, 34), (a, 0, 0), (b, 500, 15)]);
}

#[test]
fn the_totals_of_several_runs_go_on() {
    let log = log("two-runs");
    assert_eq!(log.usage(), used(100 + 150 + 160 + 40, 10 + 20 + 7 + 4, 90));
    assert_eq!(log.session().session_id.unwrap().as_str(), "s-2");
}

#[test]
fn nothing_odd_is_lost() {
    let log = log("oddities");
    let document = serde_json::to_string(&log.conversation).unwrap();
    for part in [
        "strange",
        "untyped",
        "qwen-b",
        "deep",
        "blue",
        "gold",
        "twice",
        "stranger",
        "whose?",
        "part",
        "old spelling",
        "kept",
        "odd",
        "Be odd",
        "not an object",
        "together",
        "many",
        "free",
    ] {
        let part_of_warnings = serde_json::to_string(&log.events).unwrap();
        assert!(document.contains(part) || part_of_warnings.contains(part), "{part}");
    }
    assert!(log.lines().contains(&"user_message: [image: image/png, 5 bytes]".to_owned()));
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 4);
    assert_eq!(log.warnings(WarningKind::UnexpectedValue), 1);
    assert_eq!(log.warnings(WarningKind::UnknownBlock), 3);
    assert_eq!(log.warnings(WarningKind::DuplicateCall), 1);
    assert_eq!(log.warnings(WarningKind::DuplicateResult), 1);
    assert_eq!(log.warnings(WarningKind::UnclaimedResult), 1);
    assert_eq!(log.warnings(WarningKind::InferredResult), 1);
}
