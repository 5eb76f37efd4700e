//! Tests of single fixtures of `codex exec --json`.

use foldline_domain::{
    ActionType, CorrId, DomainEvent, Outcome, TokenUsage, ToolKind, ToolStatus, WarningKind,
};

use super::{exit_code, usage};
use crate::replay::{Replay, fixture};

fn exec(name: &str) -> Replay {
    Replay::of("codex-exec", &fixture("codex-exec", name))
}

#[test]
fn commands_end_by_their_id() {
    let log = exec("commands");
    assert_eq!(
        log.lines(),
        [
            "command_execution(success): /bin/bash -lc 'ls'",
            "command_execution(failed): cargo test",
            "command_execution(denied): rm -rf build",
            "command_execution(success): echo cut at the start",
            "command_execution(unfinished): sleep 1000",
        ]
    );
    assert_eq!(exit_code(&log, "item_1"), Some(101));
    assert_eq!(log.result_of("item_1"), "running 1 test\nFAILED\n");
    assert_eq!(log.result_of("item_2"), "exec command rejected by user");
    assert_eq!(log.warnings(WarningKind::UnfinishedCall), 1);
}

#[test]
fn a_running_command_shows_what_it_printed() {
    let updates = exec("commands").events.into_iter().filter_map(|event| match event {
        DomainEvent::UpdateToolCall { corr_id, entry } if corr_id.as_str() == "item_1" => {
            let tool = entry.tool().unwrap().clone();
            Some((tool.status, tool.action_type.result_text().unwrap().to_string()))
        }
        _ => None,
    });
    assert_eq!(
        updates.collect::<Vec<_>>(),
        [
            (ToolStatus::InProgress, "running 1 test\n".to_owned()),
            (ToolStatus::Failed, "running 1 test\nFAILED\n".to_owned()),
        ]
    );
}

#[test]
fn every_type_of_item() {
    let log = exec("items");
    let ActionType::TodoManagement { todos, .. } = &log.tool("item_1").action_type else {
        panic!("a todo list")
    };
    let done: Vec<_> =
        todos.iter().map(|todo| (todo.content.decode(), todo.status.decode())).collect();
    assert_eq!(done, [("Read".into(), "completed".into()), ("Write".into(), "completed".into())]);
    let ActionType::FileEdit { changes, .. } = &log.tool("item_2").action_type else {
        panic!("an edit")
    };
    let paths: Vec<_> = changes.iter().map(|change| change.path().to_string()).collect();
    assert_eq!(paths, ["src/new.rs", "src/old.rs"]);
    assert_eq!(log.tool("item_3").action_type.kind(), ToolKind::Delete);
    assert_eq!(log.tool("item_3").status, ToolStatus::Failed);
    assert_eq!(log.entry("item_4").content, "rust serde");
    assert_eq!(log.result_of("item_5"), "3 found\n[image: image/png, 5 bytes]");
    assert_eq!(log.tool("item_6").status, ToolStatus::Failed);
    assert_eq!(log.result_of("item_6"), "tool timeout");
    let lines = log.lines();
    assert!(lines.contains(&"thinking: **Planning**".to_owned()));
    assert!(lines.contains(&"error_message: the model's context is nearly full".to_owned()));
    assert!(lines.contains(&"assistant_message: All done.".to_owned()));
    assert_eq!(
        log.usage(),
        TokenUsage { cache_write_tokens: Some(0), ..usage(100, 7, 40, Some(3)) }
    );
}

#[test]
fn what_nobody_knows_is_kept_and_counted() {
    let log = exec("items");
    assert_eq!(log.warnings(WarningKind::UnknownBlock), 2);
    assert_eq!(log.warnings(WarningKind::UnknownField), 1);
    assert!(log.lines().iter().any(|line| line.contains(r#""vision":"murky""#)));
    let log = exec("oddities");
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 3);
    assert_eq!(log.warnings(WarningKind::UnexpectedValue), 2);
    assert_eq!(log.warnings(WarningKind::PlainText), 1);
    assert_eq!(log.warnings(WarningKind::Malformed), 1);
    assert_eq!(log.tools().len(), 0, "another format's call is not guessed at");
    assert!(log.lines().contains(&"assistant_message: One.".to_owned()));
    assert_eq!(log.session().session_id.unwrap().as_str(), "t");
}

#[test]
fn sub_agents_answer_the_call_that_asks() {
    let log = exec("agents");
    let ActionType::TaskCreate { prompt, .. } = &log.tool("item_0").action_type else {
        panic!("a task")
    };
    assert_eq!(*prompt, Some("Read package.json.".into()));
    assert_eq!(log.result_of("item_1"), "child: completed: its name is x");
}

#[test]
fn a_failure_is_told_once_a_turn() {
    let log = exec("failure");
    assert_eq!(
        log.lines(),
        [
            "error_message: unknown model, guessing",
            "error_message: stream disconnected",
            "error_message: stream disconnected",
            "error_message: giving up",
        ]
    );
    let session = log.session();
    assert_eq!(session.outcome, Some(Outcome::Failed));
    assert_eq!(session.outcome_reason, Some("stream disconnected".into()));
    assert_eq!(session.turns, Some(2));
}

#[test]
fn a_turn_that_recovers_is_a_success() {
    let session = exec("recovery").session();
    assert_eq!(session.outcome, Some(Outcome::Success));
    assert_eq!(session.outcome_reason, Some("turn completed".into()));
}

#[test]
fn threads_do_not_collide() {
    let log = exec("threads");
    assert_eq!(log.entry("item_0").content, "ls");
    assert_eq!(log.entry("run-2/item_0").content, "pwd");
    assert_eq!(log.usage(), usage(130, 13, 0, None));
    assert_eq!(log.session().turns, Some(2));
}

/// Ids are those of the log, unless two threads use the same id.
#[test]
fn items_keep_their_ids_whosever_they_are() {
    let item = |thread: &str, id: &str, phase: &str| {
        format!(
            r#"{{"type":"item.{phase}","thread_id":"{thread}","item":{{"id":"{id}","type":"command_execution","command":"{thread} {id}"}}}}"#
        )
    };
    let lines = [
        r#"{"type":"thread.started","thread_id":"main"}"#.to_owned(),
        item("main", "a", "started"),
        item("sub", "b", "started"),
        item("sub", "a", "started"),
        item("main", "b", "started"),
        item("sub", "a", "completed"),
        item("main", "a", "completed"),
        item("main", "b", "completed"),
        item("sub", "b", "completed"),
    ];
    let log = Replay::of("codex-exec", lines.join("\n").as_bytes());
    let commands = [("a", "main a"), ("b", "sub b"), ("sub/a", "sub a"), ("run-1/b", "main b")];
    for (id, command) in commands {
        assert_eq!(log.entry(id).content, command);
        assert_eq!(log.tool(id).status, ToolStatus::Success, "{id}");
    }
    assert_eq!(log.tools().len(), 4);
}

#[test]
fn a_resumed_thread_counts_its_past_once() {
    // 100, then a total of 250, the same again, and a counter that restarted with 40.
    assert_eq!(exec("resumed").usage(), usage(290, 34, 150, None));
}

#[test]
fn the_app_servers_dialect_is_understood() {
    let log = exec("dialect");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: gpt-x",
            "assistant_message: Hello.",
            "thinking: Think.",
            "spawn_agent(success): Help.",
            "command_execution(success): ls",
            "system_message: sub-agent completed",
        ]
    );
    let nested = log.entry("e1").metadata.as_ref().unwrap();
    assert_eq!(nested.parent_corr_id, Some(CorrId::from("c1")));
    assert_eq!(log.tool("e1").duration_ms, Some(900));
    assert_eq!(log.tool("c1").duration_ms, Some(1022));
    assert_eq!(log.usage(), usage(150, 15, 20, None));
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn a_log_without_beginning_and_end_is_a_log() {
    let log = exec("cut");
    assert_eq!(
        log.lines(),
        [
            "assistant_message: Going on.",
            "command_execution(success): make",
            "command_execution(unfinished): make install",
        ]
    );
    assert_eq!(log.session().agent, Some("codex".into()));
    assert_eq!(log.session().outcome, None);
}
