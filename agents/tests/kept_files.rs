//! The files that agents keep on disk: what a path states, and tokens and outcomes that a snapshot alone would not
//! judge.

use std::{fs, path::Path};

use foldline_agents::{
    DynExecutor, amp::AmpThread, claude::ClaudeSession, cursor::CursorTranscript,
    gemini::GeminiSession, goose::Goose, kimi::Kimi, opencode::OpencodeSession, pi::Pi,
};
use foldline_domain::{
    Conversation, DomainEvent, NormalizedEntry, NormalizedEntryType, Outcome, Parent, Session,
    SessionId, Text, TokenUsage, ToolStatus,
};
use foldline_testkit::run;

fn events(executor: &DynExecutor, format: &str, name: &str) -> Vec<DomainEvent> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(format);
    let log = fs::read(folder.join(format!("{name}.jsonl"))).unwrap();
    let events = run::sourced_events(executor, [&*log]);
    events.into_iter().map(|event| event.item).collect()
}

fn conversation(executor: &DynExecutor, format: &str, name: &str) -> Conversation {
    events(executor, format, name).iter().collect()
}

fn used(conversation: &Conversation) -> TokenUsage {
    conversation.summary.usage.unwrap()
}

fn statuses(conversation: &Conversation) -> Vec<&'static str> {
    let tools = conversation.entries.iter().filter_map(|entry| entry.tool());
    tools.map(|tool| tool.status.name()).collect()
}

/// The facts of a session that the path of its file states.
fn facts_of(executor: &DynExecutor, path: &str, log: &str) -> Session {
    facts_beside(executor, path, &[], log)
}

/// The facts of a session that the path of its file states, and files beside it.
fn facts_beside(executor: &DynExecutor, path: &str, beside: &[(&str, &str)], log: &str) -> Session {
    let read = |path: &Path| {
        let text = beside.iter().find(|(beside, _)| Path::new(beside) == path);
        text.map(|(_, text)| (*text).to_owned())
    };
    let executor = executor.of_file(Path::new(path), &read);
    let events = run::sourced_events(&executor, [log.as_bytes()]);
    let mut facts = Session::default();
    for event in events {
        if let DomainEvent::Session(news) = event.item {
            facts.merge(&news);
        }
    }
    facts
}

fn ids(facts: &Session) -> [Option<&str>; 2] {
    [facts.session_id.as_ref(), facts.parent_session_id()].map(|id| id.map(SessionId::as_str))
}

#[test]
fn what_is_beside_a_log_states_its_project() {
    let gemini = DynExecutor::new(GeminiSession::default());
    let header = r#"{"sessionId":"g1","projectHash":"x","startTime":"2026-09-23T08:00:00Z"}"#;
    let cwd = |path: &str, beside: &[(&str, &str)]| {
        let facts = facts_beside(&gemini, path, beside, header);
        facts.cwd.map(|cwd| cwd.decode().into_owned())
    };
    let log = "/h/.gemini/tmp/kiwis/chats/session-1.jsonl";
    let root = ("/h/.gemini/tmp/kiwis/.project_root", "/srv/kiwi-farm\n");
    let projects =
        ("/h/.gemini/projects.json", r#"{"projects":{"/srv/a":"a","/srv/kiwis":"kiwis"}}"#);
    assert_eq!(cwd(log, &[root, projects]).as_deref(), Some("/srv/kiwi-farm"));
    assert_eq!(cwd(log, &[projects]).as_deref(), Some("/srv/kiwis"));
    assert_eq!(
        cwd("/h/.gemini/tmp/kiwis/chats/p/c.jsonl", &[root]).as_deref(),
        Some("/srv/kiwi-farm")
    );
    assert_eq!(cwd(log, &[("/h/.gemini/projects.json", "[]")]), None);

    let kimi = DynExecutor::new(Kimi::default());
    let line = r#"{"type":"metadata","protocol_version":"1.4","created_at":1}"#;
    let folder = "/h/.kimi-code/sessions/w/session_1";
    let state = (&*format!("{folder}/state.json"), r#"{"workDir":"/srv/nuts","title":"Nuts"}"#);
    let facts = facts_beside(&kimi, &format!("{folder}/agents/main/wire.jsonl"), &[state], line);
    let text = |text: Option<foldline_domain::Text>| text.map(|text| text.decode().into_owned());
    assert_eq!(text(facts.cwd).as_deref(), Some("/srv/nuts"));
    assert_eq!(text(facts.title).as_deref(), Some("Nuts"));

    let cursor = DynExecutor::new(CursorTranscript::default());
    let line = r#"{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}"#;
    let log = "/h/.cursor/projects/work-limes/agent-transcripts/p1/p1.jsonl";
    assert_eq!(text(facts_of(&cursor, log, line).cwd).as_deref(), Some("work-limes"));
}

#[test]
fn the_call_of_a_sub_agent_is_beside_its_log() {
    let claude = DynExecutor::new(ClaudeSession::default());
    let line = r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s-1","agentId":"a7","isSidechain":true,
                   "timestamp":"2026-09-23T08:00:00Z","message":{"role":"user","content":"Look"}}"#;
    let line = line.replace('\n', "");
    let log = "/h/.claude/projects/w/s-1/subagents/agent-a7.jsonl";
    let beside = "/h/.claude/projects/w/s-1/subagents/agent-a7.meta.json";
    let parent = |stated: &str| {
        let facts = facts_beside(&claude, log, &[(beside, stated)], &line);
        assert_eq!(facts.session_id.as_ref().map(SessionId::as_str), Some("a7"));
        *facts.parent.unwrap()
    };
    let call = Some("toolu_1".into());
    let stated = parent(r#"{"agentType":"x","toolUseId":"toolu_1"}"#);
    assert_eq!(stated, Parent::of_agent("s-1").with_call(call.clone()));
    let stated = parent(r#"{"toolUseId":"toolu_1","parentAgentId":"a6"}"#);
    assert_eq!(stated, Parent::of_agent("a6").with_call(call));
    assert_eq!(parent("{"), Parent::of_agent("s-1"));
}

#[test]
fn paths_state_sessions_and_their_parents() {
    let kimi = DynExecutor::new(Kimi::default());
    let line = r#"{"type":"metadata","protocol_version":"1.4","created_at":1}"#;
    let root = "/home/ada/.kimi-code/sessions/wd_app_0/session_1/agents";
    assert_eq!(ids(&facts_of(&kimi, &format!("{root}/main/wire.jsonl"), line)), [Some("1"), None]);
    let child = facts_of(&kimi, &format!("{root}/agent-0/wire.jsonl"), line);
    assert_eq!(ids(&child), [Some("1/agent-0"), Some("1")]);
    let cursor = DynExecutor::new(CursorTranscript::default());
    let line = r#"{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}"#;
    let root = "/home/ada/.cursor/projects/app/agent-transcripts/1";
    assert_eq!(ids(&facts_of(&cursor, &format!("{root}/1.jsonl"), line)), [Some("1"), None]);
    // A log stays the same log when it is compressed.
    assert_eq!(ids(&facts_of(&cursor, &format!("{root}/1.jsonl.gz"), line)), [Some("1"), None]);
    let child = facts_of(&cursor, &format!("{root}/subagents/2.jsonl"), line);
    assert_eq!(ids(&child), [Some("2"), Some("1")]);
    let gemini = DynExecutor::new(GeminiSession::default());
    let line = r#"{"sessionId":"2","projectHash":"p","startTime":"2026-01-01T00:00:00Z"}"#;
    let root = "/home/ada/.gemini/tmp/app/chats";
    assert_eq!(
        ids(&facts_of(&gemini, &format!("{root}/session-2.jsonl"), line)),
        [Some("2"), None]
    );
    let child = facts_of(&gemini, &format!("{root}/1/2.jsonl"), line);
    assert_eq!(ids(&child), [Some("2"), Some("1")]);
}

#[test]
fn goose_states_tokens_in_its_ledger_or_for_a_whole_session() {
    let goose = DynExecutor::new(Goose::default());
    let session = conversation(&goose, "goose", "session");
    assert_eq!((used(&session).input_tokens, used(&session).output_tokens), (Some(500), Some(20)));
    assert_eq!(statuses(&session), ["success", "failed", "success"]);
    let typed = session.entries.iter();
    let typed = typed.filter(|entry| entry.entry_type == NormalizedEntryType::UserMessage);
    assert_eq!(
        typed.map(|entry| entry.content.to_string()).collect::<Vec<_>>(),
        ["Weed the beds."]
    );
    let facts = session.summary.session.unwrap();
    assert_eq!(facts.title, Some("Weed the beds".into()));
    assert_eq!(facts.cwd, Some("/srv/beds".into()));
    let usages: Vec<_> = events(&goose, "goose", "database")
        .into_iter()
        .filter_map(|event| match event {
            DomainEvent::Usage { usage, model, message_id, timestamp } => Some((
                usage.input_tokens?,
                model?.to_string(),
                message_id?.to_string(),
                timestamp?.as_millis(),
            )),
            _ => None,
        })
        .collect();
    let expected = [
        (80, "spade-1", "goose:20260923_1", 1_790_150_460_000),
        (40, "spade-1", "goose:20260923_2", 1_790_150_405_000),
        (30, "spade-2", "goose:20260923_2", 1_790_150_406_000),
    ];
    let expected =
        expected.map(|(tokens, model, id, at)| (tokens, model.to_owned(), id.to_owned(), at));
    assert_eq!(usages, expected);
    // The name of a file is the id of its session.
    let line = r#"{"description":"d","working_dir":"/w","message_count":0}"#;
    for path in ["/h/goose/sessions/20250724_1.jsonl", "/h/20250724_1.jsonl.gz"] {
        assert_eq!(ids(&facts_of(&goose, path, line)), [Some("20250724_1"), None]);
    }
}

#[test]
fn a_message_that_is_written_again_counts_once() {
    let gemini = DynExecutor::new(GeminiSession::default());
    let conversation = conversation(&gemini, "gemini-session", "session");
    // 100 + 150 + 170 tokens, of which the first message appears three times.
    assert_eq!(used(&conversation).input_tokens, Some(420));
    assert_eq!(used(&conversation).output_tokens, Some(20 + 5 + 10 + 4));
    let said = |text: &str| {
        let is_said = |entry: &&NormalizedEntry| entry.content == *text;
        conversation.entries.iter().map(|entry| &**entry).filter(is_said).count()
    };
    assert_eq!(said("I read it first. Then I mend it."), 1);
    assert_eq!(said("I read it first."), 0);
    assert_eq!(statuses(&conversation), ["success", "failed", "success"]);
}

#[test]
fn openclaw_repeats_its_last_message_and_a_fork_the_history() {
    let pi = DynExecutor::new(Pi);
    let openclaw = conversation(&pi, "pi", "openclaw");
    assert_eq!(used(&openclaw).output_tokens, Some(10));
    let said = openclaw.entries.iter().filter(|entry| entry.content == "Three lines.");
    assert_eq!(said.count(), 1);
    let agent = openclaw.summary.session.as_ref().unwrap().agent.as_ref().map(ToString::to_string);
    assert_eq!(agent.as_deref(), Some("openclaw"));
    assert_eq!(statuses(&openclaw), ["success", "failed", "success"]);
    // The fork repeats a message under its id, so a database counts it once.
    let key = |name: &str| {
        let events = events(&pi, "pi", name);
        let ids = events.into_iter().filter_map(|event| match event {
            DomainEvent::Usage { message_id, .. } => message_id.map(|id| id.to_string()),
            _ => None,
        });
        ids.collect::<Vec<_>>()
    };
    assert!(
        key("session").contains(&"resp_1".to_owned())
            && key("failure").contains(&"resp_1".to_owned())
    );
    let failure = conversation(&pi, "pi", "failure");
    assert_eq!(statuses(&failure), ["cancelled"]);
    let parent = failure.summary.session.unwrap().parent;
    assert_eq!(parent, Some(Box::new(Parent::of_fork("0f0f0f0f-0000-4000-8000-000000000001"))));
}

#[test]
fn oh_my_pi_states_a_title_and_a_model_with_its_provider() {
    let profile = conversation(&DynExecutor::new(Pi), "pi", "profile");
    assert_eq!(profile.summary.warnings.len(), 0);
    let session = profile.summary.session.unwrap();
    let stated = [session.title, session.model, session.provider].map(|fact| fact.unwrap());
    assert_eq!(stated, ["Crack the nuts", "claude-sonnet-5", "anthropic"].map(Text::from));
}

#[test]
fn kimi_states_tokens_twice_and_rejections_apart() {
    let kimi = DynExecutor::new(Kimi::default());
    let session = conversation(&kimi, "kimi", "session");
    // Two steps and a compaction: 130, 127 and 50 tokens.
    assert_eq!(used(&session).input_tokens, Some(307));
    let prompts = session.entries.iter().filter(|entry| entry.content == "Mend the greeting.");
    assert_eq!(prompts.count(), 1);
    // No record follows the only step.
    let failure = conversation(&kimi, "kimi", "failure");
    assert_eq!(used(&failure).output_tokens, Some(5));
    assert_eq!(statuses(&failure), ["denied", "unfinished"]);
}

#[test]
fn a_transcript_states_no_outcome() {
    let cursor = DynExecutor::new(CursorTranscript::default());
    let session = conversation(&cursor, "cursor-transcript", "session");
    assert_eq!(statuses(&session), ["unknown", "unknown"]);
    assert!(ToolStatus::Unknown.is_final() && !ToolStatus::Unknown.is_failure());
    assert!(session.entries.iter().any(|entry| entry.content == "Mend the greeting."));
}

#[test]
fn a_thread_is_one_document() {
    let amp = DynExecutor::new(AmpThread);
    let session = conversation(&amp, "amp-thread", "session");
    assert_eq!(used(&session).input_tokens, Some(123 + 124 + 1));
    assert_eq!(statuses(&session), ["success", "failed", "denied", "cancelled", "failed"]);
    let branch = session.summary.session.unwrap().branch.as_ref().map(ToString::to_string);
    assert_eq!(branch.as_deref(), Some("main"));
}

#[test]
fn the_steps_of_an_opencode_message_count_once() {
    let opencode = DynExecutor::new(OpencodeSession::default());
    let session = conversation(&opencode, "opencode-session", "session");
    // Cached input is input, and reasoning is output.
    assert_eq!(used(&session).input_tokens, Some(1100 + 1160 + 1250));
    assert_eq!(used(&session).output_tokens, Some(25 + 30 + 10));
    assert_eq!(used(&session).cost_usd, Some(0.375));
    assert_eq!(statuses(&session), ["success", "success"]);
    let facts = session.summary.session.unwrap();
    assert_eq!(facts.outcome, Some(Outcome::Success));
    assert_eq!(facts.model.as_ref().map(ToString::to_string).as_deref(), Some("large-1"));
}

#[test]
fn a_message_of_opencode_2_is_a_row() {
    let opencode = DynExecutor::new(OpencodeSession::default());
    let rows = conversation(&opencode, "opencode-session", "rows");
    let used = used(&rows);
    assert_eq!((used.input_tokens, used.output_tokens), (Some(1230 + 7 + 300), Some(50 + 3 + 20)));
    // The cost of one request is not stated.
    assert_eq!(used.cost_usd, Some(0.26));
    let statuses = statuses(&rows);
    let calls = &statuses[..7];
    let open = ["unfinished", "unfinished", "unfinished"];
    assert_eq!(calls, [&["success", "failed", "success"], &open[..], &["success"]].concat());
    // Commands of the user.
    let ran = ["failed", "unfinished", "cancelled", "failed", "success", "unfinished"];
    assert_eq!(statuses[7..], ran);
    let of = |kind: NormalizedEntryType| {
        let entries = rows.entries.iter().filter(move |entry| entry.entry_type == kind);
        entries.map(|entry| entry.content.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of(NormalizedEntryType::UserMessage)[0], "Slice the pears.");
    assert_eq!(of(NormalizedEntryType::Compaction), ["compaction: Two pears were sliced."]);
    assert_eq!(of(NormalizedEntryType::ErrorMessage), ["busy", "stopped", "no room"]);
    let notices = of(NormalizedEntryType::SystemMessage);
    let agents = notices.iter().filter(|notice| notice.starts_with("agent: "));
    assert_eq!(
        agents.collect::<Vec<_>>(),
        ["agent: chef", "agent: build", "agent: plan", "agent: build"]
    );
    let facts = rows.summary.session.unwrap();
    assert_eq!(facts.parent, Some(Box::new(Parent::of_fork("ses_v1"))));
    assert_eq!(facts.outcome, Some(Outcome::Cancelled));
    let text = |text: Option<foldline_domain::Text>| text.map(|text| text.to_string());
    assert_eq!(text(facts.cwd).as_deref(), Some("/srv/barn"));
    assert_eq!(text(facts.model).as_deref(), Some("pear-3"));
}

#[test]
fn an_opencode_session_states_failures_and_open_calls() {
    let opencode = DynExecutor::new(OpencodeSession::default());
    let tools = conversation(&opencode, "opencode-session", "tools");
    let failed = statuses(&tools).iter().filter(|status| **status == "failed").count();
    // The command with the exit code 1, which opencode calls completed.
    assert_eq!((statuses(&tools).len(), failed), (10, 1));
    let typed = tools.entries.iter().filter(|entry| {
        matches!(entry.entry_type, NormalizedEntryType::UserMessage)
            && entry.content == "Try all tools."
    });
    assert_eq!(typed.count(), 1);
    let facts = tools.summary.session.unwrap();
    assert_eq!(facts.parent, Some(Box::new(Parent::of_agent("ses_a1"))));
    let failure = conversation(&opencode, "opencode-session", "failure");
    assert_eq!(statuses(&failure), ["failed", "denied", "cancelled", "unfinished", "unfinished"]);
    assert_eq!(failure.summary.session.unwrap().outcome, Some(Outcome::Cancelled));
}

#[test]
fn tokens_have_the_model_that_was_requested_by_the_alias() {
    let journal = r#"{"type":"metadata","protocol_version":"1.4","created_at":1772614800000}
{"type":"config.update","modelAlias":"mine","time":1772614800000}
{"type":"llm.request","kind":"loop","model":"large-1","modelAlias":"mine","time":1772614801000}
{"type":"usage.record","model":"mine","usage":{"inputOther":1,"output":1},"time":1772614802000}
{"type":"usage.record","model":"other","usage":{"inputOther":1,"output":1},"time":1772614803000}
{"type":"llm.request","kind":"loop","model":"large-2","modelAlias":"mine","time":1772614804000}
{"type":"context.append_loop_event","event":{"type":"step.end","usage":{"inputOther":1,"output":1}},"time":1772614805000}
{"type":"llm.request","kind":"loop","model":"large-3","modelAlias":"mine","time":1772614806000}"#;
    let executor = DynExecutor::new(Kimi::default());
    let events = run::sourced_events(&executor, [journal.as_bytes()]);
    let models = events.into_iter().filter_map(|event| match event.item {
        DomainEvent::Usage { model, .. } => Some(model.unwrap().to_string()),
        _ => None,
    });
    assert_eq!(models.collect::<Vec<_>>(), ["large-1", "other", "large-2"]);
}
