//! Droid's `stream-jsonrpc`: every fixture, from bytes to the conversation.

use foldline_domain::{
    ActionType, CommandExitStatus, DomainEvent, Outcome, TokenUsage, ToolStatus, WarningKind,
};

use crate::replay::{
    Replay, all_logs, check_all_known, check_laws, fixture, is_regular, survives_any_value,
};

const FORMAT: &str = "droid-jsonrpc";

/// The conversation of a log, after a comparison with its snapshot.
fn log(name: &str) -> Replay {
    let log = Replay::of(FORMAT, &fixture(FORMAT, name));
    let document = serde_json::to_value(&log.conversation).unwrap();
    insta::assert_snapshot!(name, serde_json::to_string_pretty(&document).unwrap());
    log
}

fn parent(log: &Replay, content: &str) -> Option<String> {
    let entry = log.conversation.entries.iter().find(|entry| entry.content == *content);
    let metadata =
        entry.unwrap_or_else(|| panic!("{content}: {:#?}", log.lines())).metadata.as_ref();
    metadata?.parent_corr_id.as_ref().map(|id| id.as_str().to_owned())
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
fn what_is_told_in_pieces_alone_and_in_messages_is_told_once() {
    let log = log("session");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: small-1",
            "user_message: Mend the greeting\n[image: image/png, 3 bytes]\nnotes\n\
             [file: application/pdf, 4 bytes]",
            "thinking: It is a file.",
            "assistant_message: I read it.",
            "Read(success): greet.txt",
            "Execute(success): sed -i s/helo/hello/ greet.txt",
            "user_message: Only this file",
            "assistant_message: Mended.",
            "model_change: model: large-1",
            "user_message: Which one?",
            "AskUser(success): 1. Which?",
            "user_message: a",
            "assistant_message: {\"file\":\"a\"}",
            "assistant_message: That one.",
        ]
    );
    assert!(log.conversation.summary.warnings.is_empty());
    assert_eq!(log.result_of("t-1"), "helo\n");
    let grown = log.events.iter().filter(|event| matches!(event, DomainEvent::GrowEntry { .. }));
    assert_eq!(grown.count(), 2);
    let document = serde_json::to_string(&log.events).unwrap();
    assert!(!document.contains("secret"), "the environment of a server");
}

#[test]
fn the_session_has_its_facts_and_a_token_counts_once() {
    let log = log("session");
    let session = log.session();
    assert_eq!((session.title, session.model), (Some("Greeting".into()), Some("large-1".into())));
    assert_eq!(session.cwd, Some("/srv/ada/app".into()));
    assert_eq!(session.reasoning_effort, Some("high".into()));
    assert_eq!((session.outcome, session.turns), (Some(Outcome::Success), Some(2)));
    assert_eq!(session.duration_ms, Some(1000));
    // 150, with 60 and 5 cached, which the end of the turn repeats; then 10, which only the end states.
    let used = TokenUsage {
        input_tokens: Some(225),
        output_tokens: Some(23),
        cache_read_tokens: Some(60),
        cache_write_tokens: Some(5),
        reasoning_tokens: Some(6),
        ..TokenUsage::default()
    };
    assert_eq!(log.usage(), used);
}

#[test]
fn a_call_waits_for_its_permission_then_runs() {
    let log = log("session");
    let of = |event: &DomainEvent| match event {
        DomainEvent::UpdateToolCall { corr_id, entry } if corr_id.as_str() == "t-2" => {
            Some(entry.tool()?.status.clone())
        }
        _ => None,
    };
    let statuses: Vec<_> = log.events.iter().filter_map(of).collect();
    let (created, waits) = (ToolStatus::Created, ToolStatus::PendingApproval);
    assert_eq!(statuses, [waits, created, ToolStatus::InProgress, ToolStatus::Success]);
    let extra = &log.entry("t-2").metadata.as_ref().unwrap().extra;
    assert_eq!(extra.get("permission").unwrap().get(), r#""proceed_once""#);
    let ActionType::CommandRun { result: Some(result), .. } = &log.tool("t-2").action_type else {
        panic!("a command")
    };
    assert_eq!(result.exit_status, Some(CommandExitStatus::ExitCode { code: 0 }));
}

#[test]
fn what_fails_is_refused_or_stopped_says_so() {
    let log = log("failure");
    let status = |id: &str| log.tool(id).status.clone();
    assert_eq!(status("f-1"), ToolStatus::Denied { reason: None });
    assert_eq!(status("f-2"), ToolStatus::Denied { reason: None }, "nothing follows");
    assert_eq!([status("f-3"), status("f-4")], [ToolStatus::Failed, ToolStatus::Failed]);
    assert_eq!(log.result_of("f-4"), "no such file");
    assert_eq!([status("f-5"), status("f-6")], [ToolStatus::Cancelled, ToolStatus::Unfinished]);
    let ActionType::CommandRun { result: Some(result), .. } = &log.tool("f-1").action_type else {
        panic!("a command")
    };
    assert_eq!(result.exit_status, None, "it never ran");
    let ends = log.events.iter().filter_map(|event| match event {
        DomainEvent::Session(facts) => Some((facts.outcome?, facts.outcome_reason.clone()?)),
        _ => None,
    });
    let ends: Vec<_> = ends.map(|(outcome, reason)| (outcome, reason.to_string())).collect();
    assert_eq!(
        ends,
        [
            (Outcome::Cancelled, "permission_rejected".to_owned()),
            (Outcome::Cancelled, "cancelled".to_owned()),
            (Outcome::Failed, "Model overloaded".to_owned()),
            (Outcome::LimitReached, "model_usage_exhausted".to_owned()),
        ]
    );
    for said in ["error_message: Invalid params", "error_message: hook failed: Stop"] {
        assert!(log.lines().contains(&said.to_owned()), "{said}");
    }
    assert_eq!(log.usage().input_tokens, Some(13));
}

#[test]
fn what_a_sub_agent_says_is_attributed_to_its_call() {
    let log = log("agents");
    for (said, call) in [
        ("Look around", None),
        ("Find it", Some("a-1")),
        ("Seeking.", Some("a-1")),
        ("Waited.", None),
        ("a", Some("a-1")),
        ("on my way", Some("a-1")),
        ("Grep: b:1", Some("a-2")),
        ("lost: in b", Some("a-2")),
        ("Who am I?", Some("s-9")),
        ("Nobody called me", Some("s-8")),
    ] {
        assert_eq!(parent(&log, said).as_deref(), call, "{said}");
    }
    let told = log.lines().iter().filter(|line| line.contains("Read")).count();
    assert_eq!(told, 1, "the call does not repeat a sub-agent with its own messages");
    assert_eq!(log.session().model, Some("large-1".into()), "not that of a sub-agent");
    assert_eq!(log.session().turns, Some(1));
    // 100 of the session, 40 and 10 of two sub-agents. Three records state the first one.
    assert_eq!((log.usage().input_tokens, log.usage().output_tokens), (Some(150), Some(15)));
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn a_session_that_is_loaded_is_told_from_its_beginning_and_used_what_it_used_since() {
    let log = log("loaded");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: small-1",
            "user_message: Count the files",
            "assistant_message: Counting.",
            "Execute(success): ls | wc -l",
            "assistant_message: Three.",
            "user_message: Remove them",
            "Execute(denied): rm *",
            "user_message: Not all of them",
            "user_message: Said elsewhere",
        ]
    );
    assert_eq!(log.session().parent_session_id().unwrap().as_str(), "s-0");
    assert_eq!((log.usage().input_tokens, log.usage().output_tokens), (Some(15), Some(2)));
    assert!(log.conversation.summary.warnings.is_empty());
}

#[test]
fn nothing_odd_is_lost() {
    let log = log("oddities");
    let document = serde_json::to_string(&log.events).unwrap();
    for part in ["starting up", "novel", "fresh", "soft", "west", "rain", "bright", "dusk", "red"] {
        assert!(document.contains(part), "{part}");
    }
    for part in ["summed", "mild", "hooked", "unheard", "deep", "grey", "sour", "otherwise", "one"]
    {
        assert!(document.contains(part), "{part}");
    }
    for part in ["nameless", "before its call", "of no call", "because", "words"] {
        assert!(document.contains(part), "{part}");
    }
    assert!(!document.contains("secret") && !document.contains("token\""), "how to log in");
    assert!(log.lines().contains(&"assistant_message: never finished".to_owned()));
    assert_eq!(log.result_of("o-2"), "before its call");
    assert_eq!(log.usage().input_tokens, Some(12), "a total that is less adds nothing");
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 4);
    assert_eq!(log.warnings(WarningKind::UnknownBlock), 3);
    assert_eq!(log.warnings(WarningKind::DuplicateCall), 1);
    assert_eq!(log.warnings(WarningKind::DuplicateResult), 1);
}

#[test]
fn the_entry_of_a_failed_request_keeps_what_nobody_knows() {
    let record =
        r#"{"jsonrpc":"2.0","id":"1","error":{"code":-1,"message":"busy"},"weather":"wet"}"#;
    let log = Replay::of(FORMAT, record.as_bytes());
    assert_eq!(log.lines(), ["error_message: busy"]);
    let entry = serde_json::to_string(&log.conversation.entries).unwrap();
    assert!(entry.contains(r#""weather":"wet""#), "{entry}");
}
