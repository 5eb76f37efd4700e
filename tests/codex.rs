//! Codex's two formats, from the raw lines to the conversation.
#![cfg(feature = "executors")]
#![allow(clippy::panic, reason = "it is all test code")]

mod replay;

use foldline::{
    conversation::{
        ActionType, CommandExitStatus, CorrId, DomainEvent, FileChange, Outcome, TokenUsage,
        ToolKind, ToolStatus, WarningKind,
    },
    executors::Format,
};
use replay::{
    Replay, all_logs, check_all_known, check_laws, counts, fixture, independent_counts, is_capture,
    survives_any_value,
};

fn exec(name: &str) -> Replay {
    Replay::of(Format::CodexExec, &fixture("codex-exec", name))
}

fn rollout(name: &str) -> Replay {
    Replay::of(Format::CodexRollout, &fixture("codex-rollout", name))
}

const FORMATS: [(Format, &str); 2] =
    [(Format::CodexExec, "codex-exec"), (Format::CodexRollout, "codex-rollout")];

fn usage(input: u64, output: u64, cached: u64, reasoning: Option<u64>) -> TokenUsage {
    TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cache_read_tokens: Some(cached),
        reasoning_tokens: reasoning,
        ..TokenUsage::default()
    }
}

fn exit_code(replay: &Replay, corr_id: &str) -> Option<i32> {
    match &replay.tool(corr_id).action_type {
        ActionType::CommandRun { result: Some(result), .. } => match result.exit_status? {
            CommandExitStatus::ExitCode { code } => Some(code),
            CommandExitStatus::Success { .. } => None,
        },
        other => panic!("{corr_id} is no command: {other:?}"),
    }
}

#[test]
fn every_log_obeys_the_laws() {
    for (format, folder) in FORMATS {
        for log in all_logs(folder) {
            check_laws(format, &log);
        }
    }
}

#[test]
fn nothing_in_the_captures_is_strange() {
    for (format, folder) in FORMATS {
        for log in all_logs(folder).iter().filter(|log| is_capture(log)) {
            check_all_known(format, log);
        }
    }
}

#[test]
fn an_independent_reader_counts_the_same() {
    for (format, folder) in FORMATS {
        for log in all_logs(folder) {
            let Some(theirs) = independent_counts("codex.py", &[folder], &log) else { return };
            let replay = Replay::of(format, &std::fs::read(&log).unwrap());
            assert_eq!(counts(&replay.conversation), theirs, "{}", log.display());
        }
    }
}

#[test]
fn any_value_in_any_place_is_survived() {
    for (format, folder) in FORMATS {
        survives_any_value(format, folder);
    }
}

mod exec_stream {
    use super::*;

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
        assert_eq!(
            done,
            [("Read".into(), "completed".into()), ("Write".into(), "completed".into())]
        );
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
        assert_eq!(log.warnings(WarningKind::UnexpectedValue), 3);
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

    #[test]
    fn a_resumed_thread_counts_its_past_once() {
        // 100, then 250 in all, the same again, and a counter that began anew at 40.
        assert_eq!(exec("resumed").usage(), usage(290, 34, 150, None));
    }

    #[test]
    fn the_app_servers_dialect_is_understood() {
        let log = exec("dialect");
        assert_eq!(
            log.lines(),
            [
                "system_message: model: gpt-x",
                "assistant_message: Hello.",
                "thinking: Think.",
                "spawn_agent(success): Help.",
                "command_execution(success): ls",
                "system_message: sub-agent completed",
            ]
        );
        let nested = log.entry("sub/e1").metadata.as_ref().unwrap();
        assert_eq!(nested.parent_corr_id, Some(CorrId::from("c1")));
        assert_eq!(log.tool("sub/e1").duration_ms, Some(900));
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
}

mod rollout_file {
    use super::*;

    #[test]
    fn what_is_said_twice_is_shown_once() {
        let log = rollout("session");
        let said: Vec<_> =
            log.lines().into_iter().filter(|line| !line.starts_with("system_message: <")).collect();
        assert_eq!(
            said,
            [
                "system_message: # AGENTS.md instructions for /work/app\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
                "user_message: go on",
                "system_message: model: gpt-a",
                "thinking: **One**",
                "thinking: **Two**",
                "assistant_message: Looking.",
                "exec_command(success): ls -la",
                "exec_command(failed): false",
                "assistant_message: Done.",
                "user_message: go on",
                "system_message: model: gpt-b",
                "assistant_message: Done.",
            ]
        );
        assert_eq!(log.result_of("call_1"), "a.txt\n");
        assert_eq!(log.tool("call_1").duration_ms, Some(250));
        assert_eq!(exit_code(&log, "call_2"), Some(1));
    }

    #[test]
    fn the_sessions_facts() {
        let session = rollout("session").session();
        assert_eq!(session.session_id.unwrap().as_str(), "thread-1");
        assert_eq!(session.agent, Some("codex".into()));
        assert_eq!(session.version, Some("0.140.0".into()));
        assert_eq!(session.model, Some("gpt-b".into()));
        assert_eq!(session.cwd, Some("/work/app".into()));
        assert_eq!(session.outcome, Some(Outcome::Success));
        assert_eq!((session.turns, session.duration_ms), (Some(2), Some(2200)));
        let log = rollout("models");
        let models =
            ["gpt-a", "gpt-b", "gpt-a"].map(|model| format!("system_message: model: {model}"));
        assert_eq!(log.lines(), models);
        let session = rollout("subagent").session();
        assert_eq!(session.session_id.unwrap().as_str(), "thread-2");
        assert_eq!(session.parent_session_id.unwrap().as_str(), "thread-1");
    }

    #[test]
    fn either_channel_will_do_in_any_order() {
        for name in ["items_first", "items_only", "events_only"] {
            let lines = rollout(name).lines();
            let said: Vec<_> = lines.iter().filter(|line| !line.contains("model: ")).collect();
            assert_eq!(
                said,
                ["user_message: hello", "thinking: Hm.", "assistant_message: Hi."],
                "{name}"
            );
        }
        assert_eq!(rollout("last_words_only").lines(), ["assistant_message: Only this is left."]);
    }

    #[test]
    fn nobody_typed_the_context() {
        let log = rollout("context");
        let typed: Vec<_> =
            log.lines().into_iter().filter(|line| line.starts_with("user_message")).collect();
        assert_eq!(
            typed,
            [
                "user_message: <div>typed markup</div>",
                "user_message: What is <environment_context>?"
            ]
        );
        let aborted = log.lines().iter().filter(|line| line.contains("aborted")).count();
        assert_eq!(aborted, 1);
        assert_eq!(log.session().outcome, Some(Outcome::Cancelled));
        for name in ["session", "context"] {
            let lines = rollout(name).lines().join("\n");
            assert!(!lines.contains("You are Codex."), "base instructions are not part of it");
        }
    }

    #[test]
    fn outputs_in_every_shape() {
        let log = rollout("outputs");
        for (id, code, output) in [
            ("c1", None, ""),
            ("c2", Some(2), "no rule\n"),
            ("c3", Some(0), "abc\n"),
            ("c4", Some(0), "total 0\n"),
            ("c5", None, "exec command rejected by user"),
            ("c6", None, "aborted by user"),
            ("c10", None, "a.txt\n"),
            ("c14", Some(0), "early\n"),
            ("c19", None, "block output\n"),
        ] {
            assert_eq!(exit_code(&log, id), code, "{id}");
            assert_eq!(log.result_of(id), output, "{id}");
        }
        for (id, status) in [
            ("c1", "success"),
            ("c2", "failed"),
            ("c5", "denied"),
            ("c6", "cancelled"),
            ("c7", "failed"),
            ("c15", "unfinished"),
            ("c18", "failed"),
        ] {
            assert_eq!(log.tool(id).status.name(), status, "{id}");
        }
        assert_eq!(log.result_of("c8"), "one row\n[image: image/png, 5 bytes]");
        assert_eq!(log.result_of("c12"), "[image: image/png, 6 bytes]");
        assert_eq!(log.result_of("c13"), "calendar_add\ncalendar_list");
        assert_eq!(log.result_of("c17"), "slept\n");
        assert_eq!(log.tool("c17").duration_ms, Some(3000));
        assert_eq!(log.warnings(WarningKind::UnknownTool), 1);
        assert_eq!(log.warnings(WarningKind::UnclaimedResult), 1);
        assert_eq!(log.warnings(WarningKind::UnfinishedCall), 1);
    }

    #[test]
    fn calls_are_what_they_do() {
        let log = rollout("outputs");
        let kinds =
            ["c1", "c9", "c11", "c12", "c13", "c18"].map(|id| log.tool(id).action_type.name());
        assert_eq!(
            kinds,
            ["command_run", "file_edit", "todo_management", "file_read", "search", "file_edit"]
        );
        let ActionType::FileEdit { changes, .. } = &log.tool("c9").action_type else {
            panic!("an edit")
        };
        let diff = FileChange::Edit {
            path: "a.rs".into(),
            unified_diff: "@@\n-x\n+y\n".into(),
            has_line_numbers: false,
        };
        let added = FileChange::Write { path: "b.rs".into(), content: "z\n".into() };
        assert_eq!(*changes, [diff, added]);
        assert_eq!(log.entry("c3").content, "git log '-1 x'");
    }

    #[test]
    fn events_tell_of_calls_too() {
        let log = rollout("event_tools");
        assert_eq!(log.tools().len(), 15);
        for (id, code) in [("e1", 0), ("e2", 1), ("e3", 0), ("e4", 3)] {
            assert_eq!(exit_code(&log, id), Some(code), "{id}");
        }
        assert_eq!(log.tool("p1").status, ToolStatus::Success);
        assert_eq!(log.tool("p2").status, ToolStatus::Failed);
        assert!(log.entry("p2").metadata.as_ref().unwrap().inferred);
        assert_eq!(log.result_of("m2"), "syntax error");
        let searches: Vec<_> =
            log.lines().into_iter().filter(|line| line.starts_with("web_search")).collect();
        assert_eq!(
            searches,
            [
                "web_search(success): rust, serde",
                "web_search(success): https://example.com/",
                "web_search(success): rust, serde",
            ]
        );
        assert_eq!(log.result_of("d1"), "opened");
        assert_eq!(log.result_of("ig_1"), "[image: image/png, 5 bytes]");
        let warnings: u64 = log.conversation.summary.warnings.values().sum();
        assert_eq!(warnings, log.warnings(WarningKind::InferredResult));
    }

    #[test]
    fn the_newest_channel_is_one_more() {
        let log = rollout("newest");
        assert_eq!(
            log.lines(),
            [
                "system_message: model: gpt-a",
                "user_message: hello",
                "thinking: Hm.",
                "exec_command(success): ls",
                "mcp__db__query(success): mcp__db__query",
                "apply_patch(denied): n.rs",
                "web_search(success): serde",
                "plan(success): plan",
                "assistant_message: Done.",
                r#"diagnostic: {"type":"Hologram","id":"h1","x":1}"#,
            ]
        );
        assert_eq!(log.warnings(WarningKind::UnknownBlock), 1);
    }

    #[test]
    fn agents_and_their_agents() {
        let log = rollout("agents");
        let ActionType::TaskCreate { subagent_type, .. } = &log.tool("a1").action_type else {
            panic!("a task")
        };
        assert_eq!(*subagent_type, Some("worker".into()));
        assert_eq!(log.result_of("a2"), "Ampere: completed: Tests written.");
        assert_eq!(log.tool("a3").status, ToolStatus::Success);
        assert!(log.lines().contains(&"system_message: I am done.".to_owned()));
        assert!(log.conversation.summary.warnings.is_empty());
    }

    #[test]
    fn a_copied_history_is_the_parents_bill() {
        let log = rollout("fork");
        let session = log.session();
        assert_eq!(session.session_id.unwrap().as_str(), "child");
        assert_eq!(session.parent_session_id.unwrap().as_str(), "parent");
        assert_eq!(session.version, Some("0.140.0".into()));
        assert_eq!((session.turns, session.duration_ms), (Some(1), Some(4000)));
        assert_eq!(log.usage(), usage(500, 30, 400, Some(2)));
        assert_eq!(log.tools().len(), 1, "the history is part of the conversation");
        assert_eq!(rollout("fork_without_history").usage(), usage(600, 40, 500, Some(2)));
    }

    #[test]
    fn running_totals_count_once() {
        assert_eq!(rollout("session").usage(), usage(250, 45, 160, Some(9)));
        // 150, and 90 after the counter began anew.
        let log = rollout("usage_reset");
        assert_eq!(log.usage(), usage(240, 24, 50, Some(2)));
        assert_eq!(log.session().version, Some("0.141.0".into()));
    }

    #[test]
    fn images_are_not_carried_along() {
        let log = rollout("images");
        assert_eq!(
            log.lines()[1..],
            [
                "user_message: [image: image/png, 60 bytes]\nwhat is this?",
                "user_message: and this?\n[image: /tmp/shot.png]",
            ]
        );
        let events = serde_json::to_string(&log.events).unwrap();
        assert!(!events.contains("aGVsbG8h"), "no base64");
    }

    #[test]
    fn the_program_speaks() {
        let log = rollout("notices");
        assert_eq!(
            log.lines(),
            [
                "system_message: model: gpt-a",
                "system_message: context compacted\nWe listed files.",
                "system_message: context compacted",
                "system_message: review: current changes",
                "system_message: review finished: Looks good.",
                "error_message: usage limit reached",
                "system_message: Undid the last turn.",
                "system_message: goal active: Ship it",
                "system_message: assessment: denied: It deletes everything.",
                "system_message: model: gpt-c",
            ]
        );
        let session = log.session();
        assert_eq!(session.title, Some("Listing files".into()));
        assert_eq!(session.outcome, Some(Outcome::Failed));
        assert_eq!(session.outcome_reason, Some("usage limit reached".into()));
        assert_eq!(session.reasoning_effort, Some("high".into()));
    }

    #[test]
    fn strange_lines_are_kept_and_counted() {
        let log = rollout("oddities");
        assert_eq!(log.warnings(WarningKind::UnknownEvent), 5);
        assert_eq!(log.warnings(WarningKind::UnexpectedValue), 1);
        assert_eq!(log.warnings(WarningKind::PlainText), 1);
        assert_eq!(log.warnings(WarningKind::Malformed), 1);
        assert_eq!(log.warnings(WarningKind::UnknownBlock), 1);
        assert_eq!(log.warnings(WarningKind::UnknownField), 1);
        let lines = log.lines();
        assert!(lines.contains(&"assistant_message: Before.\nAfter.".to_owned()));
        assert!(lines.iter().any(|line| line.contains("aurora")), "{lines:#?}");
    }
}
