//! The Agent Client Protocol: every fixture, from bytes to the conversation.

use foldline_domain::{
    ActionType, CommandExitStatus, DomainEvent, FileChange, Outcome, ToolStatus, WarningKind,
};

use crate::replay::{
    Replay, all_logs, check_all_known, check_laws, fixture, is_regular, survives_any_value,
};

const FORMAT: &str = "acp";

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

fn command(log: &Replay, id: &str) -> String {
    let ActionType::CommandRun { command, .. } = &log.tool(id).action_type else {
        panic!("{id} is a command")
    };
    command.to_string()
}

fn changes<'l>(log: &'l Replay, id: &str) -> &'l [FileChange] {
    let ActionType::FileEdit { changes, .. } = &log.tool(id).action_type else {
        panic!("{id} is an edit")
    };
    changes
}

fn extra(log: &Replay, id: &str, field: &str) -> String {
    let metadata = log.entry(id).metadata.as_ref().unwrap();
    metadata.extra.get(field).map(|json| json.get().to_owned()).unwrap_or_default()
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
fn a_turn_with_a_plan_an_edit_and_a_command() {
    let log = log("session");
    assert_eq!(
        log.lines(),
        [
            "model_change: model: small-1",
            "user_message: Mend the greeting\n[image: image/png, 3 bytes]\n\
             [resource: file:///srv/ada/app/greet.txt]",
            "thinking: The greeting is a file.",
            "plan(success): todo list",
            "assistant_message: I read it.",
            "read(success): Read greet.txt",
            "fs/read_text_file(success): greet.txt",
            "edit(success): Edit greet.txt",
            "fs/write_text_file(success): greet.txt",
            "execute(success): `cat greet.txt`",
            "terminal/create(success): cat greet.txt",
            "plan(success): todo list",
            "system_message: mode: code",
            "assistant_message: Mended.",
            "user_message: Thanks",
            "model_change: model: large-1",
            "assistant_message: You are welcome.",
        ]
    );
    assert!(log.conversation.summary.warnings.is_empty());
    let grown = log.events.iter().filter(|event| matches!(event, DomainEvent::GrowEntry { .. }));
    assert_eq!(grown.count(), 3);
}

#[test]
fn the_session_knows_its_agent_and_its_end() {
    let session = log("session").session();
    assert_eq!((session.agent, session.version), (Some("deskhand".into()), Some("2.1.0".into())));
    assert_eq!(
        (session.model, session.reasoning_effort),
        (Some("large-1".into()), Some("low".into()))
    );
    assert_eq!(
        (session.title, session.cwd),
        (Some("Greeting".into()), Some("/srv/ada/app".into()))
    );
    assert_eq!((session.outcome, session.turns), (Some(Outcome::Success), Some(2)));
    assert!(session.ended_at.is_some());
}

#[test]
fn calls_have_the_results_of_their_updates() {
    let log = log("session");
    assert_eq!(log.result_of("c-1"), "helo\n");
    assert_eq!(extra(&log, "c-1", "rawOutput"), r#"{"text":"helo\n","lines":1}"#);
    assert!(extra(&log, "c-1", "locations").contains("greet.txt"));
    let [FileChange::Edit { unified_diff, .. }] = changes(&log, "c-2") else { panic!("one edit") };
    assert_eq!(*unified_diff, "@@ -1,2 +1,2 @@\n a\n-helo\n+hello\n");
    assert_eq!(extra(&log, "c-2", "permission"), r#""allow_once""#);
    assert_eq!(log.result_of("c-3"), "a\nhello\n");
}

/// Both sides count their requests from the same number.
#[test]
fn what_the_client_does_is_a_call_of_its_own() {
    let log = log("session");
    assert_eq!(log.result_of("unnamed-2"), "helo\n");
    let written = FileChange::Write { path: "greet.txt".into(), content: "a\nhello\n".into() };
    assert_eq!(changes(&log, "unnamed-3"), [written]);
    assert_eq!(command(&log, "unnamed-4"), "cat greet.txt");
    assert_eq!(log.result_of("unnamed-4"), "a\nhello\n");
    assert_eq!(exit_status(&log, "unnamed-4"), Some(CommandExitStatus::ExitCode { code: 0 }));
}

#[test]
fn the_plan_is_as_it_was_each_time() {
    let log = log("session");
    let statuses = |id: &str| {
        let ActionType::TodoManagement { todos, .. } = &log.tool(id).action_type else {
            panic!("{id} is a plan")
        };
        todos.iter().map(|todo| todo.status.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(statuses("unnamed-1"), ["in_progress", "pending"]);
    assert_eq!(statuses("unnamed-5"), ["completed", "completed"]);
}

#[test]
fn a_session_costs_what_it_cost_since_the_log_began() {
    assert_eq!(log("session").usage().cost_usd, Some(0.75));
    assert_eq!(log("loaded").usage().cost_usd, Some(0.25));
    assert_eq!(log("session").usage().input_tokens, None, "the size of the context is not usage");
}

#[test]
fn every_kind_has_its_action() {
    let log = log("tools");
    let actions: Vec<_> = log.tools().iter().map(|tool| tool.action_type.name()).collect();
    assert_eq!(actions[..5], ["file_read", "file_edit", "file_edit", "file_edit", "search"]);
    assert_eq!(actions[5..9], ["command_run", "tool", "web_fetch", "plan_presentation"]);
    assert_eq!(actions[9..14], ["tool", "tool", "tool", "tool", "command_run"]);
    assert_eq!(actions[14..], ["command_run", "web_fetch", "search", "tool", "file_edit"]);
    assert!(log.conversation.summary.warnings.is_empty());
    assert_eq!(log.result_of("t-1"), "one\n[image: image/png, 3 bytes]");
    assert_eq!(log.result_of("t-10"), "It is open\n[audio: audio/wav, 3 bytes]");
    assert_eq!(log.result_of("t-11"), "[resource: file:///a.txt]\nEmbedded text");
    assert_eq!(extra(&log, "t-4", "destination"), r#""d.txt""#);
    assert_eq!(log.result_of("t-15"), "building\ndone");
    assert_eq!(log.result_of("t-17"), "found", "its beginning is missing");
}

#[test]
fn an_edit_is_what_its_diffs_say() {
    let log = log("tools");
    let [FileChange::Write { path, content }, FileChange::Edit { unified_diff, .. }] =
        changes(&log, "t-2")
    else {
        panic!("a file that is new, and an edit")
    };
    assert_eq!((&*path.decode(), &*content.decode()), ("b.txt", "new\n"));
    assert_eq!(*unified_diff, "@@ -1 +1 @@\n-x\n+y\n");
    assert_eq!(changes(&log, "t-3"), [FileChange::Delete { path: "c.txt".into() }]);
    assert_eq!(changes(&log, "t-19").len(), 1);
}

#[test]
fn a_command_is_a_line_and_its_exit_code_decides() {
    let log = log("tools");
    assert_eq!(command(&log, "t-6"), "ls -la");
    assert_eq!(exit_status(&log, "t-6"), Some(CommandExitStatus::ExitCode { code: 2 }));
    assert_eq!(log.tool("t-6").status, ToolStatus::Failed);
    assert_eq!(command(&log, "t-14"), "date", "the title says it");
    assert_eq!(command(&log, "t-15"), "make -j '2 jobs'");
}

#[test]
fn an_input_that_is_no_object_is_kept() {
    let log = log("tools");
    for (id, given) in [("t-12", r#"["not","an object"]"#), ("t-13", r#""just text""#)] {
        let ActionType::Tool { arguments: Some(arguments), .. } = &log.tool(id).action_type else {
            panic!("{id} has arguments")
        };
        assert_eq!(arguments.get(), given);
    }
}

/// Responses to requests that are not in the log: only capabilities of an agent are ignored.
#[test]
fn an_answer_to_nothing_is_kept() {
    let log = Replay::of(FORMAT, &fixture(FORMAT, "answers"));
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 1);
}

#[test]
fn what_fails_is_refused_or_stopped_says_so() {
    let log = log("failure");
    let status = |id: &str| log.tool(id).status.clone();
    assert_eq!((status("f-1"), log.result_of("f-1")), (ToolStatus::Failed, "No such file".into()));
    assert_eq!(status("f-2"), ToolStatus::Denied { reason: None });
    assert_eq!(status("f-3"), ToolStatus::Denied { reason: None }, "nothing follows");
    assert_eq!(exit_status(&log, "f-4"), Some(CommandExitStatus::ExitCode { code: 3 }));
    assert_eq!(exit_status(&log, "f-5"), Some(CommandExitStatus::Success { success: false }));
    assert_eq!([status("f-4"), status("f-5")], [ToolStatus::Failed, ToolStatus::Failed]);
    assert_eq!([status("f-6"), status("f-7")], [ToolStatus::Cancelled, ToolStatus::Cancelled]);
    assert_eq!([status("f-8"), status("f-9")], [ToolStatus::Unfinished, ToolStatus::Unfinished]);
    assert_eq!(log.result_of("unnamed-1"), "Resource not found");
    assert_eq!(status("unnamed-2"), ToolStatus::Failed, "a signal ended it");
    assert_eq!(extra(&log, "unnamed-2", "result.exitStatus.signal"), r#""SIGKILL""#);
    assert_eq!(exit_status(&log, "unnamed-3"), Some(CommandExitStatus::ExitCode { code: 2 }));
    let outcomes = log.events.iter().filter_map(|event| match event {
        DomainEvent::Session(facts) => facts.outcome,
        _ => None,
    });
    let (limit, cancelled) = (Outcome::LimitReached, Outcome::Cancelled);
    assert!(outcomes.eq([limit, cancelled, Outcome::Failed, Outcome::Failed]));
    assert!(log.lines().contains(&"error_message: Internal error".to_owned()));
}

#[test]
fn a_call_waits_for_its_permission() {
    let log = log("failure");
    let of = |event: &DomainEvent| match event {
        DomainEvent::UpdateToolCall { corr_id, entry } if corr_id.as_str() == "f-9" => {
            Some(entry.tool()?.status.clone())
        }
        _ => None,
    };
    let statuses: Vec<_> = log.events.iter().filter_map(of).collect();
    assert!(statuses.ends_with(&[ToolStatus::PendingApproval, ToolStatus::Unfinished]));
}

#[test]
fn the_history_of_a_session_that_is_loaded_is_told_once() {
    let told = [
        "user_message: Count the files",
        "execute(success): Count",
        "assistant_message: Three.",
        "user_message: Count the files",
        "execute(success): Count",
        "assistant_message: Four.",
    ];
    let loaded = log("loaded");
    assert_eq!(loaded.lines(), told);
    assert_eq!(loaded.session().agent, Some("other-agent".into()));
    let again = log("again");
    assert_eq!(again.lines()[1..4], told[..3]);
    let after = ["user_message: And now?", "assistant_message: Still three."];
    assert_eq!(again.lines()[4..], after);
    assert!(again.conversation.summary.warnings.is_empty());
}

#[test]
fn nothing_odd_is_lost() {
    let log = log("oddities");
    let document = serde_json::to_string(&log.events).unwrap();
    for part in ["starting up", "deep", "twice", "north", "bright", "tango", "rose", "soft", "west"]
    {
        assert!(document.contains(part), "{part}");
    }
    for part in ["smell", "no content", "fast", "sharp", "many", "no text", "no object", "paused"] {
        assert!(document.contains(part), "{part}");
    }
    for part in ["out again", "Late words", "Once more", "nameless", "soft knock", "knock"] {
        assert!(document.contains(part), "{part}");
    }
    for part in ["who am I?", "listing", "no list", "night", "noon", "plain", "session/upd"] {
        assert!(document.contains(part), "{part}");
    }
    let told = |name: &str| log.lines().iter().filter(|line| line.contains(name)).count();
    assert_eq!(told("user_message: twice"), 1, "one repetition of the prompt");
    assert_eq!(extra(&log, "o-2", "permission"), r#""knock""#);
    assert_eq!(log.usage().cost_usd, Some(0.5), "in dollars, and it only grows");
    assert_eq!(log.warnings(WarningKind::UnknownEvent), 6);
    assert_eq!(log.warnings(WarningKind::UnknownBlock), 5);
    assert_eq!(log.warnings(WarningKind::DuplicateCall), 3);
    assert_eq!(log.warnings(WarningKind::DuplicateResult), 1);
}
