//! Copilot's events: every fixture, from bytes to the conversation.

use std::fs;

use foldline_domain::{
    ActionType, CommandExitStatus, DomainEvent, Outcome, TokenUsage, ToolStatus, WarningKind,
};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::opened::{conversation, lines};
use crate::replay::{
    Replay, all_logs, check_all_known, check_laws, counts, fixture, is_regular, survives_any_value,
};

const FORMAT: &str = "copilot";

/// The conversation of a log, after a comparison with its snapshot.
fn log(name: &str) -> Replay {
    let log = Replay::of(FORMAT, &fixture(FORMAT, name));
    let document = serde_json::to_value(&log.conversation).unwrap();
    insta::assert_snapshot!(name, serde_json::to_string_pretty(&document).unwrap());
    log
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

/// A run may end with only the totals of all models, whose input excludes cached input.
#[test]
fn totals_without_a_model_are_counted() {
    let end = br#"{"type":"session.shutdown","data":{"shutdownType":"routine","modelMetrics":{"gpt-a":{"requests":2}},"tokenDetails":{"input":{"tokenCount":100},"output":{"tokenCount":15},"cache_read":{"tokenCount":5},"cache_write":{"tokenCount":0}}},"id":"e-1","timestamp":"2026-05-02T09:00:01.000Z"}"#;
    let replay = Replay::of(FORMAT, end);
    let counts = counts(&replay.conversation).to_string();
    let usage = r#""usage":{"cache_read_tokens":5,"cache_write_tokens":0,"input_tokens":105,"output_tokens":15}"#;
    assert!(counts.contains(usage), "{counts}");
}

#[test]
fn any_value_in_any_place_is_survived() {
    survives_any_value(FORMAT, FORMAT);
}

fn used(input: u64, output: u64, cached: u64, reasoning: u64) -> TokenUsage {
    TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cache_read_tokens: Some(cached),
        cache_write_tokens: Some(0),
        reasoning_tokens: Some(reasoning),
        ..TokenUsage::default()
    }
}

fn exit_code(log: &Replay, id: &str) -> Option<CommandExitStatus> {
    let ActionType::CommandRun { result, .. } = &log.tool(id).action_type else {
        panic!("{id} is a command")
    };
    result.as_ref()?.exit_status
}

#[test]
fn a_session_is_told_with_its_thoughts_and_files() {
    let log = log("session");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: gpt-a",
            "system_message: The folder is trusted.",
            "system_message: You are a helper.",
            "user_message: Greet the reader\n[file: /srv/ada/app/a.txt]\n[image: image/png, 5 bytes]",
            "thinking: A file would be best.",
            "assistant_message: I write a greeting.",
            "create(success): hi.txt",
            "thinking: Is it there?",
            "assistant_message: Now I look at it.",
            "view(success): hi.txt",
            "assistant_message: Done.",
            "system_message: task complete: The reader is greeted",
            "system_message: session ended",
        ]
    );
    let session = log.session();
    assert_eq!(session.outcome, Some(Outcome::Success));
    assert_eq!(session.title, Some("A greeting".into()));
    assert_eq!(session.version, Some("1.0.77".into()));
    assert_eq!(session.cwd, Some("/srv/ada/app".into()));
}

/// A resumed session: the releases disagree on whether its second end repeats the tokens of the first.
#[test]
fn a_second_end_and_one_that_never_came_count_each_token_once() {
    let event = |kind: &str, data: Value, at: u32| {
        json!({"type": kind, "data": data, "id": format!("e{at}"), "parentId": null,
               "timestamp": format!("2026-09-{at:02}T08:00:00.000Z")})
    };
    let said = |output: u64, at| {
        let message =
            json!({"messageId": format!("m{at}"), "content": "ok", "outputTokens": output});
        event("assistant.message", message, at)
    };
    let end = |input: u64, output: u64, at| {
        let usage = json!({"usage": {"inputTokens": input, "outputTokens": output}});
        event("session.shutdown", json!({"modelMetrics": {"gpt-a": usage}}), at)
    };
    let tokens = |log: &[Value]| {
        let lines: Vec<_> = log.iter().map(Value::to_string).collect();
        let usage = Replay::of(FORMAT, lines.join("\n").as_bytes()).usage();
        (usage.input_tokens, usage.output_tokens)
    };
    let first = [said(10, 1), end(1000, 10, 2), said(20, 3)];
    for second in [end(2000, 20, 4), end(3000, 30, 4)] {
        assert_eq!(tokens(&[&first[..], &[second]].concat()), (Some(3000), Some(30)));
    }
    assert_eq!(tokens(&first), (Some(1000), Some(30)), "killed");
    // A log that may still grow has no end either.
    let lines: Vec<_> = first.iter().map(Value::to_string).collect();
    let events = Replay::of(FORMAT, lines.join("\n").as_bytes()).events;
    assert!(!matches!(events.last(), Some(DomainEvent::Usage { .. })));
}

#[test]
fn the_end_counts_all_models_and_the_messages_count_nothing_more() {
    assert_eq!(log("session").usage(), used(1400, 60, 700, 12));
    let models = log("session").events.into_iter().filter_map(|event| match event {
        DomainEvent::Usage { model, .. } => model.map(|model| model.to_string()),
        _ => None,
    });
    assert_eq!(models.collect::<Vec<_>>(), ["gpt-a", "gpt-a", "gpt-b", "gpt-a", "gpt-b"]);
    // Without an end, only the messages count.
    assert_eq!(log("tools").usage().output_tokens, Some(80));
    assert_eq!(log("failure").usage().output_tokens, Some(7), "the end states none");
}

#[test]
fn every_tool_has_its_action() {
    let log = log("tools");
    let actions: Vec<_> = log.tools().iter().map(|tool| tool.action_type.name()).collect();
    assert_eq!(
        actions,
        [
            "command_run",
            "command_run",
            "file_edit",
            "file_edit",
            "search",
            "search",
            "web_fetch",
            "search",
            "todo_management",
            "question",
            "plan_presentation",
            "tool",
            "tool",
            "tool",
            "command_run",
            "tool",
            "command_run"
        ]
    );
    assert_eq!(log.warnings(WarningKind::UnknownTool), 1);
    let code = |code| Some(CommandExitStatus::ExitCode { code });
    assert_eq!((exit_code(&log, "t-1"), exit_code(&log, "t-2")), (code(0), code(1)));
    assert_eq!(log.result_of("t-1"), "a.txt\n");
    assert_eq!(log.tool("t-2").status, ToolStatus::Failed);
    assert_eq!(log.result_of("t-13"), "It is open\n[image: image/png, 5 bytes]");
    let arguments = serde_json::to_value(log.tool("t-16")).unwrap();
    assert_eq!(arguments["action_type"]["arguments"], serde_json::json!(["not", "an", "object"]));
    let edit = serde_json::to_value(log.tool("t-3")).unwrap();
    assert_eq!(
        edit["action_type"]["changes"][0]["unified_diff"], "@@ -7,1 +7,1 @@\n-one\n+two\n",
        "with line numbers"
    );
}

#[test]
fn what_fails_says_why() {
    let log = log("failure");
    let reason = Some("The user rejected this tool call.".into());
    assert_eq!(log.tool("c-1").status, ToolStatus::Denied { reason });
    assert_eq!(log.tool("c-2").status, ToolStatus::Failed);
    assert_eq!(log.result_of("c-2"), "Path none does not exist.");
    assert_eq!(log.tool("c-3").status, ToolStatus::Unfinished);
    assert_eq!(
        log.lines()[6..],
        [
            "user_message: Are you mad?",
            "system_message: aborted: user initiated",
            "error_message: hook failed: postToolUse",
            "error_message: The quota is spent",
            "error_message: Try again",
            "system_message: Take care",
            "compaction: context truncated",
            "compaction: compaction: no room",
            "assistant_message: That is all",
            "system_message: session ended",
        ]
    );
    let session = log.session();
    assert_eq!(session.outcome, Some(Outcome::Failed));
    assert_eq!(session.outcome_reason, Some("The quota is spent".into()));
}

#[test]
fn a_call_that_was_not_permitted_is_denied_whatever_its_result_says() {
    let log = Replay::of(
        FORMAT,
        br#"
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"view","arguments":{"path":"a"}},"id":"1","timestamp":"2026-05-02T09:00:00Z","parentId":null}
{"type":"permission.completed","data":{"requestId":"p","toolCallId":"c","result":{"kind":"denied-by-rules"}},"id":"2","timestamp":"2026-05-02T09:00:00Z","parentId":"1"}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"result":{"content":"No."}},"id":"3","timestamp":"2026-05-02T09:00:00Z","parentId":"2"}
"#,
    );
    assert_eq!(log.tool("c").status, ToolStatus::Denied { reason: Some("No.".into()) });
}

#[test]
fn a_call_that_runs_with_other_arguments_says_so() {
    let log = Replay::of(
        FORMAT,
        br#"
{"type":"assistant.message","data":{"messageId":"m","content":"","toolRequests":[{"toolCallId":"c","name":"bash","arguments":{"command":"rm a"},"type":"function"}]},"id":"1","timestamp":"2026-05-02T09:00:00Z","parentId":null}
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"bash","arguments":{"command":"rm -i a"}},"id":"2","timestamp":"2026-05-02T09:00:00Z","parentId":"1"}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"result":{"content":"gone"}},"id":"3","timestamp":"2026-05-02T09:00:00Z","parentId":"2"}
"#,
    );
    assert_eq!(log.lines(), ["bash(success): rm -i a"]);
}

#[test]
fn what_the_beginning_of_a_call_adds_is_kept() {
    let log = Replay::of(
        FORMAT,
        br#"
{"type":"assistant.message","data":{"messageId":"m","content":"","toolRequests":[{"toolCallId":"c","name":"ask","arguments":{},"type":"function"}]},"id":"1","timestamp":"2026-05-02T09:00:00Z","parentId":null}
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"ask","arguments":{},"mcpServerName":"deep"},"id":"2","timestamp":"2026-05-02T09:00:00Z","parentId":"1"}
"#,
    );
    let extra = &log.entry("c").metadata.as_ref().unwrap().extra;
    let server = extra.iter().find(|(name, _)| **name == *"mcpServerName");
    assert_eq!(server.map(|(_, value)| value.get()), Some("\"deep\""));
}

#[test]
fn what_a_sub_agent_does_is_told_below_its_call() {
    let log = log("agents");
    let below = |call: &str| {
        let entries = log.conversation.entries.iter().filter(|entry| {
            let metadata = entry.metadata.as_deref();
            let parent = metadata.and_then(|metadata| metadata.parent_corr_id.as_ref());
            parent.is_some_and(|parent| parent.as_str() == call)
        });
        entries.map(|entry| entry.content.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(below("c-1"), ["it", "It is in a.txt."]);
    assert_eq!(
        below("c-2"),
        ["I build.", "make", "make it is", "sub-agent failed: out of patience"]
    );
    assert!(log.lines().contains(&"system_message: Go on by yourself".to_owned()));
}

#[test]
fn what_is_written_in_pieces_is_one_entry() {
    let log = log("partial");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: gpt-a",
            "user_message: Stream",
            "thinking: I think.",
            "assistant_message: First I look.",
            "view(success): a.txt",
            "assistant_message: It says one.",
            "assistant_message: And th",
        ]
    );
    let grown = log.events.iter().filter(|event| event.name() == "grow_entry").count();
    assert_eq!(grown, 2);
    assert_eq!(log.usage(), used(1900, 42, 1000, 8), "each call of the model counts once");
}

#[test]
fn a_session_that_is_summed_up_and_resumed_goes_on() {
    let log = log("compaction");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: gpt-a",
            "system_message: You are a helper.",
            "user_message: one",
            "assistant_message: First.",
            "compaction: compaction: <overview>\nOne was said.",
            "user_message: two",
            "assistant_message: Second.",
            "model_change: model: gpt-b",
            "system_message: You are a helper. Be brief.",
            "user_message: three",
            "assistant_message: Third.",
            "assistant_message: Fourth.",
        ]
    );
    // Two cumulative ends, and a run without an end.
    assert_eq!(log.usage(), used(800 + 300 + 500, 30 + 15 + 40 + 9, 400 + 300, 5));
    assert_eq!(log.session().cwd, Some("/srv/ada/other".into()));
}

#[test]
fn an_early_release_is_read() {
    let log = log("early");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: gpt-4.1",
            "user_message: make two files",
            "assistant_message: Two files.",
            "create(success): x.py",
            "create(failed): y.py",
        ]
    );
    assert_eq!(log.result_of("c-2"), "No room for y.py");
}

#[test]
fn nothing_odd_is_lost() {
    let log = log("oddities");
    let document = serde_json::to_string(&log.conversation).unwrap();
    for part in [
        "Welcome",
        "blue",
        "not an object",
        "gold",
        "red",
        "no request",
        "odd file",
        "picked",
        "early",
        "twice",
        "stranger",
        "whose?",
        "also wrong",
        "none",
        "plainly wrong",
        "part",
        "denied-by-rules",
        "whose piece?",
        "glued",
        "together",
        "yesterday",
        "many",
    ] {
        assert!(document.contains(part), "{part}");
    }
    assert_eq!(log.warnings(WarningKind::UnknownField), 13);
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 4);
    assert_eq!(log.warnings(WarningKind::UnknownBlock), 1);
    assert_eq!(log.warnings(WarningKind::Malformed), 1);
    assert_eq!(log.warnings(WarningKind::DuplicateCall), 1);
    assert_eq!(log.warnings(WarningKind::DuplicateResult), 2);
    assert_eq!(log.warnings(WarningKind::UnclaimedResult), 1);
    assert_eq!(log.warnings(WarningKind::InferredResult), 1);
    assert_eq!(log.usage().output_tokens, Some(3));
}

/// Where the database has the requests of a session, they are its tokens, also of a compaction.
#[test]
fn requests_of_the_database_are_the_tokens_of_a_session() {
    let usage = log("stored").usage();
    let counted = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens);
    assert_eq!(counted, (Some(3009), Some(39), Some(2300)));
}

#[test]
fn the_requests_of_a_killed_session_are_among_its_events() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("session-state/s-9/events.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let event = |kind: &str, second: u64, data: Value| {
        json!({"type": kind, "data": data, "id": "e", "parentId": null,
            "timestamp": format!("2026-09-23T08:00:0{second}.000Z")})
    };
    let events = [
        event("session.start", 0, json!({"sessionId": "s-9", "context": {"cwd": "/srv/sage"}})),
        event(
            "assistant.message",
            2,
            json!({"messageId": "m1", "content": "Ok.", "outputTokens": 10}),
        ),
    ];
    let text: String = events.iter().map(|event| format!("{event}\n")).collect();
    fs::write(&path, &text).unwrap();
    assert_eq!(lines(&path), text);
    let connection = Connection::open(home.path().join("session-store.db")).unwrap();
    // An older release, which lacks columns.
    let rows = "
        CREATE TABLE assistant_usage_events (id INTEGER PRIMARY KEY, session_id TEXT, created_at TEXT, model TEXT,
            input_tokens INTEGER, output_tokens INTEGER, initiator TEXT);
        INSERT INTO assistant_usage_events VALUES (1, 's-8', '2026-09-23T08:00:01.000Z', 'large-1', 5, 5, 'user');";
    connection.execute_batch(rows).unwrap();
    assert_eq!(lines(&path), text);
    let rows = "
        INSERT INTO assistant_usage_events VALUES (3, 's-9', '2026-09-23T08:00:03.000Z', 'large-2', 200, 20, 'compaction'),
            (2, 's-9', '2026-09-23T08:00:01.000Z', 'large-1', 100, 10, 'user');";
    connection.execute_batch(rows).unwrap();
    // An event that is being written stays at the end.
    fs::write(&path, format!("{text}{{\"type\":\"us")).unwrap();
    let log = lines(&path);
    assert_eq!(log.lines().count(), 6);
    assert!(log.ends_with("\n{\"type\":\"us"));
    let said = conversation(FORMAT, log.trim_end_matches("{\"type\":\"us"));
    let usage = said.summary.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(300), Some(30)));
    assert_eq!(said.summary.warnings.len(), 0);
}
