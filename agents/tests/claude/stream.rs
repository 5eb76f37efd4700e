//! Tests of single streams.

use foldline_domain::{
    ActionType, CommandExitStatus, CommandRunResult, DomainEvent, FileChange, Outcome, ToolStatus,
    WarningKind,
};

use super::support::Replay;

fn replay(name: &str) -> Replay {
    Replay::of("claude-stream", name)
}

fn command_result<'r>(replay: &'r Replay, call: &str) -> &'r CommandRunResult {
    match replay.action(call) {
        ActionType::CommandRun { result: Some(result), .. } => result,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_is_told_in_order_with_its_results() {
    let run = replay("run");
    assert_eq!(
        run.told(),
        [
            "model_change: model: claude-opus-4-6",
            "assistant_message: I look first.",
            "Read success: src/total.rs",
            "Bash failed: cargo test",
            "Edit success: src/total.rs",
            "Bash success: cargo test",
            "assistant_message: The total is right now.",
        ]
    );
    assert_eq!(run.result("toolu_1"), "    41\tfn total() {\n    42\t    1\n    43\t}");
    assert_eq!(
        *command_result(&run, "toolu_2"),
        CommandRunResult::new(
            Some(CommandExitStatus::ExitCode { code: 101 }),
            Some("test total ... FAILED".into()),
        )
    );
    let succeeded = Some(CommandExitStatus::Success { success: true });
    assert_eq!(command_result(&run, "toolu_4").exit_status, succeeded);
    assert_eq!(run.warnings(), []);
}

#[test]
fn an_edit_gets_the_line_numbers_of_its_file_when_it_is_done() {
    let run = replay("run");
    let begun = run.events.iter().find_map(|event| match event {
        DomainEvent::NewToolCall { corr_id, entry } if corr_id.as_str() == "toolu_3" => Some(entry),
        _ => None,
    });
    let change = |unified_diff: &str, has_line_numbers| FileChange::Edit {
        path: "src/total.rs".into(),
        unified_diff: unified_diff.into(),
        has_line_numbers,
    };
    let ActionType::FileEdit { changes, .. } = &begun.unwrap().tool().unwrap().action_type else {
        panic!("{begun:?}")
    };
    assert_eq!(*changes, [change("@@ -1 +1 @@\n-    1\n+    2\n", false)]);
    let ActionType::FileEdit { changes, .. } = run.action("toolu_3") else { panic!() };
    let patch = "@@ -41,3 +41,3 @@\n fn total() {\n-    1\n+    2\n }\n";
    assert_eq!(*changes, [change(patch, true)]);
}

#[test]
fn a_run_costs_what_its_result_says_and_ends_as_it_says() {
    let run = replay("run");
    // Including helper models.
    assert_eq!(run.tokens(), (8 + 4900 + 390 + 700, 420 + 30));
    let usage = run.conversation.summary.usage.unwrap();
    assert_eq!(usage.cache_read_tokens, Some(4900));
    assert_eq!(usage.cache_write_tokens, Some(390));
    assert_eq!(usage.reasoning_tokens, Some(60));
    assert_eq!(usage.cost_usd, Some(0.25));
    let by_model = run.events.iter().filter_map(|event| match event {
        DomainEvent::Usage { usage, model, .. } => {
            Some((model.as_ref()?.to_string(), usage.output_tokens, usage.cost_usd))
        }
        _ => None,
    });
    let main = |output, cost| ("claude-opus-4-6".to_owned(), output, cost);
    assert_eq!(
        by_model.collect::<Vec<_>>(),
        [
            main(Some(420), Some(0.2)),
            ("claude-haiku-4-5".to_owned(), Some(30), Some(0.05)),
            // Reasoning, which is stated only for the whole run.
            main(None, None),
        ]
    );
    let session = run.session();
    assert_eq!(session.agent.as_ref().unwrap(), &"claude-code");
    assert_eq!(session.version.as_ref().unwrap(), &"2.1.252");
    assert_eq!(session.cwd.as_ref().unwrap(), &"/srv/ada/shop");
    assert_eq!(session.tools.as_ref().unwrap().len(), 4);
    assert_eq!(session.outcome, Some(Outcome::Success));
    assert_eq!(session.outcome_reason.as_ref().unwrap(), &"completed");
    assert_eq!((session.turns, session.duration_ms), (Some(3), Some(9000)));
}

#[test]
fn streamed_text_is_shown_once() {
    let run = replay("partial");
    assert_eq!(
        run.told(),
        [
            "model_change: model: claude-opus-4-6",
            "thinking: They want a list.",
            "assistant_message: I list the files.",
            "Bash success: ls",
            "assistant_message: Two files.",
        ]
    );
    // A thought that is only a signature opens nothing.
    assert_eq!(run.count("open_entry"), 3);
    assert_eq!(run.count("close_entry"), 3);
    // Correctly streamed text is not sent again; text that the complete line corrects is.
    let replaced: Vec<_> = run
        .events
        .iter()
        .filter_map(|event| match event {
            DomainEvent::CloseEntry { corr_id, entry } => Some((corr_id.as_str(), entry.is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(replaced, [("msg_1/0", false), ("msg_1/1", true), ("msg_2/1", false)]);
    assert_eq!(run.tokens(), (9 + 240, 39));
}

#[test]
fn a_stream_that_is_cut_keeps_what_was_written() {
    let run = replay("partial-cut");
    assert_eq!(
        run.told(),
        [
            "model_change: model: claude-opus-4-6",
            "assistant_message: I will",
            "Bash unfinished: ls",
            "Read unfinished: Read",
        ]
    );
    // The running total of the message counts, since there is no result.
    assert_eq!(run.tokens(), (105, 17));
    assert_eq!(run.session().outcome, None);
}

#[test]
fn a_sub_agents_work_belongs_to_its_call() {
    let run = replay("subagent");
    assert_eq!(run.children("toolu_1"), ["Read package.json.", "package.json", "shop"]);
    let child = run.entry("toolu_c1").metadata.as_ref().unwrap();
    assert_eq!(child.parent_corr_id.as_ref().unwrap().as_str(), "toolu_1");
    assert_eq!(child.model.as_ref().unwrap(), &"claude-haiku-4-5");
    assert_eq!(run.result("toolu_1"), "shop");
    assert_eq!(run.tool("toolu_1").duration_ms, Some(3981));
    // The session's model is that of the main conversation.
    assert_eq!(run.session().model.as_ref().unwrap(), &"claude-opus-4-6");
    // Two messages of the main conversation and two of the sub-agent, each once.
    assert_eq!(run.tokens(), (53 + 84 + 900 + 950, 4));
}

#[test]
fn only_a_background_task_announces_its_end() {
    let run = replay("subagent");
    let told = run.told();
    assert!(told.contains(&"system_message: task failed: make failed".to_owned()), "{told:?}");
    assert_eq!(told.iter().filter(|line| line.contains("shop.")).count(), 1);
    assert!(!told.iter().any(|line| line.contains("task completed")), "{told:?}");
    assert_eq!(command_result(&run, "toolu_2").exit_status, None);
}

#[test]
fn what_was_refused_failed_or_given_up_is_told_apart() {
    let run = replay("denied");
    let status = |call| &run.tool(call).status;
    let denied = |reason: &str| ToolStatus::Denied { reason: Some(reason.into()) };
    assert_eq!(
        *status("toolu_1"),
        denied("The user doesn't want to proceed with this tool use. The tool use was rejected.")
    );
    assert_eq!(status("toolu_2").name(), "denied");
    assert_eq!(*status("toolu_3"), denied("Not on Friday."));
    assert_eq!(*status("toolu_4"), ToolStatus::Cancelled);
    assert_eq!(*status("toolu_5"), ToolStatus::Cancelled);
    assert_eq!(*status("toolu_6"), ToolStatus::Failed);
    assert_eq!(*status("toolu_7"), ToolStatus::Failed);
    assert_eq!(run.result("toolu_6"), "cat: /secret/x: Permission denied");
    assert_eq!(run.result("toolu_7"), "String to replace not found in file.");
    // Listed as denied: a call that waited for its result, and a call without a line.
    assert_eq!(*status("toolu_8"), ToolStatus::Denied { reason: None });
    assert_eq!(*status("toolu_9"), ToolStatus::Denied { reason: None });
    assert_eq!(run.entry("toolu_9").content, "secret");
    assert_eq!(run.warnings(), []);
}

#[test]
fn the_flag_decides_whether_a_run_failed() {
    let limited = replay("max-turns");
    assert_eq!(limited.session().outcome, Some(Outcome::LimitReached));
    assert_eq!(limited.session().outcome_reason.as_ref().unwrap(), &"error_max_turns");
    assert_eq!(limited.session().turns, Some(25));

    let failed = replay("failed");
    assert_eq!(failed.session().outcome, Some(Outcome::Failed));
    assert_eq!(failed.session().outcome_reason.as_ref().unwrap(), &"api_error");
    assert_eq!(failed.session().model.as_ref().unwrap(), &"claude-none");
    assert_eq!(
        failed.told(),
        [
            "model_change: model: claude-none",
            "error_message: There is no model claude-none.",
            "error_message: 404 model: claude-none",
        ]
    );
}

#[test]
fn several_runs_add_up_without_counting_twice() {
    let runs = replay("two-runs");
    // 100 and 40 of one session, 7 of another, and 5 of a truncated run.
    assert_eq!(runs.tokens(), (100 + 40 + 7 + 5, 10 + 20 + 3 + 1));
    // The cost is cumulative within a session: a total of 1.5, not 2.5; then the other session's.
    assert_eq!(runs.cost(), Some(1.5 + 0.25));
    assert_eq!(runs.session().session_id.as_ref().unwrap().as_str(), "other");
    assert_eq!(runs.count("usage"), 4);
}

#[test]
fn the_program_speaks_for_itself() {
    let notices = replay("notices");
    assert_eq!(
        notices.told(),
        [
            "system_message: hook SessionStart:startup failed with exit code 2: no such file",
            "model_change: model: claude-opus-4-6[1m]",
            "error_message: API error 529: overloaded (retry 2 of 10), next attempt after 561.5 ms",
            "error_message: Overloaded",
            "compaction: conversation compacted (auto, 4096 tokens before)",
            "continuation: We compared two shops.",
            "system_message: Keep the tests green.",
            "system_message: rate limit: allowed_warning, seven_day, 90 % used",
            "assistant_message: Same model.",
            "model_change: model: claude-sonnet-5",
            "assistant_message: Another.",
            "assistant_message: Still the other.",
            "system_message: No response requested.",
        ]
    );
    assert_eq!(notices.warnings(), []);
}

#[test]
fn what_is_strange_is_kept_and_counted() {
    let odd = replay("oddities");
    assert_eq!(
        odd.warnings(),
        [
            (WarningKind::PlainText, ""),
            (WarningKind::UnknownField, "system/init.shiny"),
            (WarningKind::UnknownEvent, "telemetry"),
            (WarningKind::UnknownEvent, "system/reticulated"),
            (WarningKind::UnknownBlock, "hologram"),
            (WarningKind::UnknownField, "tool_use.colour"),
            (WarningKind::UnknownTool, "Frobnicate"),
            (WarningKind::DuplicateResult, ""),
            (WarningKind::UnknownBlock, "tool_result/hologram"),
            (WarningKind::ForeignRecord, "user"),
            (WarningKind::Malformed, ""),
            (WarningKind::UnclaimedResult, ""),
        ]
    );
    let told = odd.told();
    for expected in [
        "system_message: claude: warming up",
        "assistant_message: Before.",
        "diagnostic: {\"type\":\"hologram\",\"data\":\"x\"}",
        "assistant_message: After.",
        "assistant_message: [image: image/png, 5 bytes]",
        "Frobnicate success: Frobnicate",
        "web_search success: shops",
        "diagnostic: again",
        "diagnostic: nobody asked",
    ] {
        assert!(told.contains(&expected.to_owned()), "{expected}: {told:#?}");
    }
    // The result precedes its call.
    assert_eq!(odd.result("toolu_1"), "early\n[image: image/jpeg, 3 bytes]");
    assert_eq!(odd.result("srv_1"), "Shop https://shop.example");
    assert_eq!(odd.result("toolu_4"), "ticket 7\n{\"type\":\"hologram\"}");
    let extra = &odd.entry("toolu_1").metadata.as_ref().unwrap().extra;
    assert_eq!(extra.get("colour").unwrap().get(), "\"red\"");
}

#[test]
fn the_windows_of_the_plan_are_limits_of_the_account() {
    let event = |windows: &str| {
        format!(
            r#"{{"type":"rate_limit_event","session_id":"s","uuid":"u","rate_limit_info":{{"status":"allowed",
            "resetsAt":1790604000,"rateLimitType":"seven_day","isUsingOverage":false{windows}}}}}"#
        )
        .replace('\n', " ")
    };
    let told = |windows: &[&str]| {
        let lines: Vec<_> = windows.iter().map(|windows| event(windows)).collect();
        let run = Replay::of_lines("claude-stream", &lines);
        assert_eq!((run.warnings(), run.told()), (vec![], vec![]));
        let limits = run.session().limits.clone().unwrap_or_default();
        let facts = limits.into_iter().map(|limit| {
            let end = limit.resets_at.map(|at| at.as_millis() / 1000);
            (limit.name.to_string(), limit.used_percent, limit.window_minutes, end)
        });
        facts.collect::<Vec<_>>()
    };
    // A part without its size is no limit.
    assert_eq!(told(&[""]), []);
    let seven = |used, end| ("seven_day".to_owned(), used, Some(10_080), Some(end));
    assert_eq!(told(&[r#","utilization":0.5"#]), [seven(50.0, 1_790_604_000)]);
    let both = r#","unifiedWindows":{"five_hour":{"utilization":0.25,"resetsAt":1790248200},
                 "seven_day":{"utilization":0.75,"resetsAt":1790604001}}"#;
    let five = ("five_hour".to_owned(), 25.0, Some(300), Some(1_790_248_200));
    assert_eq!(told(&[r#","utilization":0.5"#, both]), [five, seven(75.0, 1_790_604_001)]);

    // A reading is as old as its record.
    let dated = event(r#","utilization":0.5"#)
        .replace(r#""uuid":"u""#, r#""uuid":"u","timestamp":"2026-06-01T10:00:00Z""#);
    let run = Replay::of_lines("claude-stream", &[dated]);
    let at = run.session().limits.as_deref().unwrap()[0].at;
    assert_eq!(at.map(foldline_domain::Timestamp::as_millis), Some(1_780_308_000_000));
}
