//! Tests of single fixtures of rollout files.

use foldline_domain::{
    ActionType, DomainEvent, FileChange, Limit, Outcome, Text, Timestamp, ToolStatus, WarningKind,
};

use super::{exit_code, usage};
use crate::replay::{Replay, fixture};

fn rollout(name: &str) -> Replay {
    Replay::of("codex-rollout", &fixture("codex-rollout", name))
}

#[test]
fn what_is_said_twice_is_shown_once() {
    let log = rollout("session");
    let said: Vec<_> =
        log.lines().into_iter().filter(|line| !line.starts_with("system_message: <")).collect();
    assert_eq!(
        said,
        [
            "system_message: # AGENTS.md instructions for /srv/ada/app\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
            "user_message: go on",
            "model_change: model: gpt-a",
            "thinking: **One**",
            "thinking: **Two**",
            "assistant_message: Looking.",
            "exec_command(success): ls -la",
            "exec_command(failed): false",
            "assistant_message: Done.",
            "user_message: go on",
            "model_change: model: gpt-b",
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
    assert_eq!(session.session_id.as_ref().unwrap().as_str(), "thread-1");
    assert_eq!(session.agent, Some("codex".into()));
    assert_eq!(session.version, Some("0.140.0".into()));
    assert_eq!(session.model, Some("gpt-b".into()));
    assert_eq!(session.provider, Some("openai".into()));
    assert_eq!(session.cwd, Some("/srv/ada/app".into()));
    assert_eq!(session.outcome, Some(Outcome::Success));
    assert_eq!((session.turns, session.duration_ms), (Some(2), Some(2200)));
    let log = rollout("models");
    let models = ["gpt-a", "gpt-b", "gpt-a"].map(|model| format!("model_change: model: {model}"));
    assert_eq!(log.lines(), models);
    let session = rollout("subagent").session();
    assert_eq!(session.session_id.as_ref().unwrap().as_str(), "thread-2");
    assert_eq!(session.parent_session_id().unwrap().as_str(), "thread-1");
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
        ["user_message: <div>typed markup</div>", "user_message: What is <environment_context>?"]
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
    let kinds = ["c1", "c9", "c11", "c12", "c13", "c18"].map(|id| log.tool(id).action_type.name());
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
            "model_change: model: gpt-a",
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

/// Items have the ids of the input and output of the model that they repeat.
#[test]
fn items_of_a_paginated_thread_are_paired_by_id() {
    let log = rollout("paginated");
    assert_eq!(
        log.lines()[1..],
        [
            "user_message: Check the tests",
            "thinking: Hm.",
            "assistant_message: I look at it. [1]",
            "exec(success): await tools.exec_command({cmd:'make test'})",
            "command_execution(failed): make test",
            "command_execution(denied): rm -r x",
            "apply_patch(success): Makefile",
            "mcp__db__query(failed): mcp__db__query",
            "desk__open(success): desk__open",
            "spawn_agent(success): Review it",
            "system_message: sub-agent /root/judge: started",
            "web_search(success): make, rule",
            "web_search(success): web search",
            "view_image(success): shot.png",
            "image_generation(success): a pear",
            "exec_command(success): ls",
            "list_mcp_resources(success): list_mcp_resources",
            "system_message: sleep",
            "system_message: review: current changes",
            "system_message: review finished: Looks good.",
            "compaction: context compacted",
            "plan(success): plan",
            "assistant_message: Done.",
        ]
    );
    assert_eq!(log.result_of("exec-1"), "no rule\n");
    assert_eq!(log.result_of("c2"), "no such table");
    assert_eq!(log.result_of("c8"), "none");
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn prompts_are_what_a_person_typed() {
    let log = rollout("prompts");
    let typed: Vec<_> =
        log.lines().into_iter().filter(|line| line.starts_with("user_message")).collect();
    assert_eq!(
        typed,
        [
            "user_message: <skill> is what?",
            "user_message: go on",
            "user_message: go on",
            "user_message: [image: image/png, 6 bytes]\n[Image #1] why grey",
            "user_message: fix it",
            "user_message: listen\n[audio: audio]",
            "user_message: look\n[image: image/png, 6 bytes]",
            "user_message: and now this",
        ]
    );
    let context = log.lines().iter().filter(|line| line.starts_with("system_message")).count();
    assert_eq!(context, 7);
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn every_record_and_field_is_known() {
    let log = rollout("fields");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: gpt-a",
            "system_message: Judge it.",
            "system_message: Quickly.",
            "local_shell(unfinished): ls",
            "user_message: hello",
            "compaction: context compacted",
        ]
    );
    assert_eq!(log.warnings(WarningKind::UnfinishedCall), 1);
    assert_eq!(log.conversation.summary.warnings.len(), 1);
    let session = log.session();
    assert_eq!(session.session_id.as_ref().unwrap().as_str(), "thread-9");
    assert_eq!(session.parent_session_id().unwrap().as_str(), "thread-1");
    assert_eq!(session.provider, Some("azure".into()));
    let events = serde_json::to_string(&log.events).unwrap();
    assert!(!events.contains("acct-secret"), "an account is private");
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
    assert_eq!(session.session_id.as_ref().unwrap().as_str(), "child");
    assert_eq!(session.parent_session_id().unwrap().as_str(), "parent");
    assert_eq!(session.version, Some("0.140.0".into()));
    assert_eq!((session.turns, session.duration_ms), (Some(1), Some(4000)));
    assert_eq!(log.usage(), usage(500, 30, 400, Some(2)));
    assert_eq!(log.tools().len(), 1, "the history is part of the conversation");
    assert_eq!(rollout("fork_without_history").usage(), usage(600, 40, 500, Some(2)));
}

/// The copied lines keep the times of the parent, which are older than the fork.
#[test]
fn a_forks_copied_lines_may_keep_their_times() {
    let log = rollout("fork_with_old_times");
    let session = log.session();
    assert_eq!(session.session_id.as_ref().unwrap().as_str(), "child");
    assert_eq!((session.turns, session.duration_ms), (Some(1), Some(4000)));
    assert_eq!(log.usage(), usage(500, 30, 400, Some(2)));
    assert_eq!(log.tools().len(), 1, "the history is part of the conversation");
}

fn moment(text: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text.parse().unwrap();
    Some(Timestamp::from_millis(moment.as_millisecond()))
}

/// The name of a limit, the used part and the length of the window, and its end.
type Stated = (String, f64, u64, Option<Timestamp>);

/// What each event states.
fn stated(log: &Replay) -> Vec<Vec<Stated>> {
    let told = |limit: &Limit| {
        let minutes = limit.window_minutes.unwrap_or_default();
        (limit.name.to_string(), limit.used_percent, minutes, limit.resets_at)
    };
    let limits = log.events.iter().filter_map(|event| match event {
        DomainEvent::Session(facts) => facts.limits.as_ref(),
        _ => None,
    });
    limits.map(|limits| limits.iter().map(told).collect()).collect()
}

#[test]
fn limits_of_the_account_are_facts_of_the_session() {
    let log = rollout("limits");
    let [primary, secondary] = ["primary", "secondary"].map(|name| {
        move |used, minutes, end: Option<&str>| {
            (name.to_owned(), used, minutes, end.and_then(moment))
        }
    });
    let five = Some("2026-06-01T13:00:00Z");
    let week = Some("2026-06-04T13:00:00Z");
    let other = ("codex_other/primary".to_owned(), 8.0, 300, moment("2026-06-01T13:10:00Z"));
    assert_eq!(
        stated(&log),
        [
            vec![primary(11.5, 299, None), secondary(2.0, 10_079, None)],
            vec![
                primary(12.0, 300, Some("2026-06-01T11:01:00Z")),
                secondary(2.0, 10_079, Some("2026-06-01T12:01:00.500Z")),
            ],
            vec![primary(42.5, 300, five), secondary(13.0, 10_080, week)],
            // The same again is news after a minute, and not before.
            vec![primary(42.5, 300, five)],
            vec![other.clone()],
        ]
    );
    let session = log.session();
    let told = session.limits.as_deref().unwrap();
    let names: Vec<_> = told.iter().map(|limit| limit.name.to_string()).collect();
    assert_eq!(names, ["codex_other/primary", "primary", "secondary"]);
    let at: Vec<_> = told.iter().map(|limit| limit.at).collect();
    let minutes = ["04:00", "03:30", "02:00"];
    assert_eq!(at, minutes.map(|at| moment(&format!("2026-06-01T10:{at}Z"))));
    assert!(log.lines().is_empty(), "they are no part of the conversation");
}

#[test]
fn a_copied_history_states_no_limits_and_absurd_ones_are_kept() {
    let line = |time: &str, kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"2026-06-01T{time}Z","type":"{kind}","payload":{payload}}}"#)
    };
    let used = |time: &str, percent: &str| {
        let window = format!(r#"{{"used_percent":{percent},"resets_at":1e300}}"#);
        let limits = format!(r#"{{"type":"token_count","rate_limits":{{"primary":{window}}}}}"#);
        line(time, "event_msg", &limits)
    };
    let lines = [
        line("10:00:00.010", "session_meta", r#"{"id":"child","forked_from_id":"parent"}"#),
        line("10:00:00.020", "session_meta", r#"{"id":"parent"}"#),
        used("10:00:00.030", "90"),
        used("10:00:02.000", "-1e300"),
    ];
    let log = Replay::of("codex-rollout", lines.join("\n").as_bytes());
    let end = Some(Timestamp::from_millis(i64::MAX));
    assert_eq!(stated(&log), [[("primary".to_owned(), -1e300, 0, end)]]);
}

#[test]
fn unknown_fields_of_nested_objects_are_reported() {
    let event = |payload: &str| {
        format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{payload}}}"#)
    };
    let lines = [
        event(
            r#"{"type":"token_count","info":{"total_token_usage":{"input_tokens":1,"novel_a":1},"novel_b":1},"rate_limits":{"primary":{"used_percent":1.0,"novel_c":1},"novel_d":1}}"#,
        ),
        event(
            r#"{"type":"web_search_end","call_id":"w","query":"q","action":{"type":"search","query":"q","novel_e":1}}"#,
        ),
        event(
            r#"{"type":"mcp_tool_call_end","call_id":"m","invocation":{"server":"s","tool":"t","arguments":{},"novel_f":1},"result":{"Ok":{"content":[]}}}"#,
        ),
    ];
    let log = Replay::of("codex-rollout", lines.join("\n").as_bytes());
    let subjects = log.events.iter().filter_map(|event| match event {
        DomainEvent::Warning(warning) => warning.subject.clone(),
        _ => None,
    });
    let mut subjects: Vec<_> = subjects.collect();
    subjects.sort();
    assert_eq!(
        subjects,
        [
            "event_msg/mcp_tool_call_end.invocation.novel_f",
            "event_msg/token_count.info.novel_b",
            "event_msg/token_count.info.total_token_usage.novel_a",
            "event_msg/token_count.rate_limits.novel_d",
            "event_msg/token_count.rate_limits.primary.novel_c",
            "event_msg/web_search_end.action.novel_e",
        ]
    );
}

#[test]
fn running_totals_count_once() {
    assert_eq!(rollout("session").usage(), usage(250, 45, 160, Some(9)));
    // 150, and 90 after the counter was reset.
    let log = rollout("usage_reset");
    assert_eq!(log.usage(), usage(240, 24, 50, Some(2)));
    assert_eq!(log.session().version, Some("0.141.0".into()));
    // 500, and 70 after a compaction lowered the total without a request.
    assert_eq!(rollout("usage_decrease").usage(), usage(570, 47, 310, Some(5)));
}

#[test]
fn each_response_counts_once_under_its_id() {
    let log = rollout("usage_records");
    let used = log.events.iter().filter_map(|event| match event {
        DomainEvent::Usage { usage, model, message_id, .. } => Some((
            message_id.as_ref().map(Text::to_string),
            model.as_ref().map(Text::to_string),
            usage.input_tokens.unwrap(),
        )),
        _ => None,
    });
    let expected = [
        (Some("thread:40.10.4.1/40.10.4.1"), None, 40),
        (Some("resp_1"), Some("gpt-a"), 100),
        // The request of a compaction, which ended in the next turn.
        (Some("resp_2"), Some("gpt-a"), 900),
        (Some("resp_3"), Some("gpt-b"), 7),
    ];
    let expected =
        expected.map(|(id, model, input)| (id.map(str::to_owned), model.map(str::to_owned), input));
    assert_eq!(used.collect::<Vec<_>>(), expected);
    assert_eq!(log.usage().cache_write_tokens, Some(20));
}

/// The request of a total is known by its counts, among the forks of a thread.
#[test]
fn service_tiers_and_single_requests_are_stated() {
    let event = |payload: &str| format!(r#"{{"type":"event_msg","payload":{payload}}}"#);
    let tier = |tier: &str| {
        let settings = format!(r#"{{"model":"gpt-a","service_tier":"{tier}"}}"#);
        event(&format!(r#"{{"type":"thread_settings_applied","thread_settings":{settings}}}"#))
    };
    let count = |total: u64, last: u64| {
        event(&format!(
            r#"{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total}}},"last_token_usage":{{"input_tokens":{last}}}}}}}"#
        ))
    };
    let meta = r#"{"type":"session_meta","payload":{"id":"t"}}"#.to_owned();
    let (a, b, c) = (tier("default"), tier("fast"), tier("flex"));
    let lines = [meta, a, count(100, 100), b, count(150, 50), count(250, 50), c, count(260, 10)];
    let log = Replay::of("codex-rollout", lines.join("\n").as_bytes());
    let used = log.events.iter().filter_map(|event| match event {
        DomainEvent::Usage { usage, model, message_id, .. } => {
            let id = message_id.as_ref().map(Text::to_string);
            Some((model.as_ref()?.to_string(), id, usage.input_tokens?))
        }
        _ => None,
    });
    let id = |id: &str| Some(id.to_owned());
    let expected = [
        ("gpt-a".to_owned(), id("thread:100.0.0.0/100.0.0.0"), 100),
        ("gpt-a priority".to_owned(), id("thread:150.0.0.0/50.0.0.0"), 50),
        // Two requests.
        ("gpt-a priority".to_owned(), id("thread:250.0.0.0/100.0.0.0"), 100),
        ("gpt-a flex".to_owned(), id("thread:260.0.0.0/10.0.0.0"), 10),
    ];
    assert_eq!(used.collect::<Vec<_>>(), expected);
}

#[test]
fn a_fork_does_not_pay_for_copied_responses() {
    let line = |time: &str, kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"2026-09-01T{time}Z","type":"{kind}","payload":{payload}}}"#)
    };
    let record = |time: &str, thread: &str, input: u64| {
        let usage = format!(r#"{{"input_tokens":{input}}}"#);
        let ids = format!(r#""thread_id":"{thread}","response_id":"{input}""#);
        line(time, "token_usage_record", &format!(r#"{{{ids},"usage":{usage}}}"#))
    };
    let lines = [
        line("10:00:00.000", "session_meta", r#"{"id":"child","forked_from_id":"parent"}"#),
        line("10:00:00.001", "session_meta", r#"{"id":"parent"}"#),
        record("10:00:00.002", "parent", 100),
        record("10:00:00.900", "child", 20),
        record("10:00:03.000", "child", 3),
    ];
    let log = Replay::of("codex-rollout", lines.join("\n").as_bytes());
    assert_eq!(log.usage().input_tokens, Some(23));
}

/// A sub-agent's file begins with the records of its parent, which it numbers, and totals go on from theirs.
#[test]
fn the_usage_before_the_first_record_of_a_sub_agent_is_its_parents() {
    let count = |ordinal: u64, total: u64, last: u64| {
        format!(
            r#"{{"type":"event_msg","ordinal":{ordinal},"payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total}}},"last_token_usage":{{"input_tokens":{last}}}}}}}}}"#
        )
    };
    let meta = r#"{"type":"session_meta","ordinal":0,"payload":{"id":"b","parent_thread_id":"a","subagent_history_start_ordinal":3}}"#;
    let lines = [meta.to_owned(), count(1, 100, 100), count(2, 250, 150), count(3, 290, 40)];
    let log = Replay::of("codex-rollout", lines.join("\n").as_bytes());
    assert_eq!(log.usage().input_tokens, Some(40));
    // So do those of a file that begins in the middle.
    let log = Replay::of("codex-rollout", lines[3].as_bytes());
    assert_eq!(log.usage().input_tokens, Some(40));
    assert_eq!(log.warnings(WarningKind::MissingBeginning), 1);
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
            "model_change: model: gpt-a",
            "compaction: context compacted\nWe listed files.",
            "compaction: context compacted",
            "system_message: review: current changes",
            "system_message: review finished: Looks good.",
            "error_message: usage limit reached",
            "system_message: Undid the last turn.",
            "system_message: goal active: Ship it",
            "system_message: assessment: denied: It deletes everything.",
            "model_change: model: gpt-c",
        ]
    );
    let session = log.session();
    assert_eq!(session.title, Some("Listing files".into()));
    assert_eq!(session.outcome, Some(Outcome::Failed));
    assert_eq!(session.outcome_reason, Some("usage limit reached".into()));
    assert_eq!(session.reasoning_effort, Some("high".into()));
}

#[test]
fn an_error_that_a_notice_announced_is_an_error() {
    let event = |payload: &str| format!(r#"{{"type":"event_msg","payload":{payload}}}"#);
    let lines = [
        event(r#"{"type":"stream_error","message":"usage limit reached"}"#),
        event(r#"{"type":"task_complete","error":{"message":"usage limit reached"}}"#),
    ];
    let log = Replay::of("codex-rollout", lines.join("\n").as_bytes());
    let said = ["system_message: usage limit reached", "error_message: usage limit reached"];
    assert_eq!(log.lines(), said);
}

#[test]
fn strange_lines_are_kept_and_counted() {
    let log = rollout("oddities");
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 4);
    assert_eq!(log.warnings(WarningKind::ForeignRecord), 1);
    assert_eq!(log.warnings(WarningKind::UnexpectedValue), 1);
    assert_eq!(log.warnings(WarningKind::PlainText), 1);
    assert_eq!(log.warnings(WarningKind::Malformed), 1);
    assert_eq!(log.warnings(WarningKind::UnknownBlock), 1);
    assert_eq!(log.warnings(WarningKind::UnknownField), 1);
    let lines = log.lines();
    assert!(lines.contains(&"assistant_message: Before.\nAfter.".to_owned()));
    assert!(lines.iter().any(|line| line.contains("aurora")), "{lines:#?}");
}

#[test]
fn the_branch_is_a_fact_of_the_session() {
    let meta = r#"{"timestamp":"2026-06-01T10:00:00Z","type":"session_meta","payload":{"id":"t","cwd":"/srv","git":{"commit_hash":"c0ffee","branch":"topic"}}}"#;
    let session = Replay::of("codex-rollout", meta.as_bytes()).conversation.summary.session;
    assert_eq!(session.unwrap().branch.unwrap(), "topic");
}
