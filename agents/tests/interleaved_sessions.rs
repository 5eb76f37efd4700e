//! Sessions of one stream, and of one file.

use foldline::processor::HeapSize;
use foldline::transduce::*;
use foldline_agents::{
    claude::{ClaudeSession, ClaudeStream},
    droid::Droid,
    wire::Record,
    *,
};
use foldline_domain::*;

fn run(executor: &DynExecutor, log: &str) -> Vec<(SessionKey, DomainEvent)> {
    run_by(&Sessions::new(executor), log)
}

fn run_by<R, S>(sessions: &Sessions<R>, log: &str) -> Vec<(SessionKey, DomainEvent)>
where
    Sessions<R>: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
{
    let mut state = sessions.init();
    let mut all = Vec::new();
    for line in log.lines() {
        Record::read(line, |_, record| {
            let record = Located::new(Position::default(), record);
            let (next, events) =
                sessions.reduce(std::mem::replace(&mut state, sessions.init()), record);
            state = next;
            all.extend(events);
        });
    }
    all.extend(sessions.finish(state).1);
    all.into_iter().map(|event| (event.session, event.item)).collect()
}

#[test]
fn a_record_of_another_format_and_standard_error_name_no_session() {
    let log = r#"{"type":"system","subtype":"init","session_id":"a","tools":[],"model":"m"}
{"type":"user","session_id":"b","sessionId":"b","uuid":"1","message":{"role":"user","content":"hi"}}
{"type":"foldline.stderr","session_id":"c","text":"no network"}"#;
    let events = run(&DynExecutor::new(ClaudeStream), log);
    let names: Vec<_> = events
        .iter()
        .filter_map(|(_, event)| match event {
            DomainEvent::Session(facts) => facts.session_id.as_ref().map(SessionId::as_str),
            _ => None,
        })
        .collect();
    assert!(names.iter().all(|name| *name == "a"), "{names:?}");
    let warnings = events.iter().filter(
        |(_, event)| matches!(event, DomainEvent::Warning(it) if it.kind == WarningKind::ForeignRecord),
    );
    assert_eq!(warnings.count(), 1);
}

/// A log that goes on under more and more ids does not grow the state without bound: the first session ends.
#[test]
fn of_a_log_with_many_sessions_the_first_ones_end_before_it() {
    let line = |n: usize| {
        format!(
            r#"{{"type":"user","sessionId":"s{n}","uuid":"{n}","parentUuid":null,"message":{{"role":"user","content":"hi"}}}}
"#
        )
    };
    let log: String = (0..MAX_SESSIONS + 3).map(line).collect();
    let events = run(&DynExecutor::new(ClaudeSession::default()), &log);
    let ended = |key: u32| {
        let is_end =
            |(of, event): &_| *of == SessionKey(key) && *event == DomainEvent::SessionEnded;
        events.iter().filter(|event| is_end(event)).count()
    };
    let place = |is: &dyn Fn(&(SessionKey, DomainEvent)) -> bool| events.iter().position(is);
    let first = place(&|(key, event)| *key == SessionKey(0) && *event == DomainEvent::SessionEnded);
    let last = u32::try_from(MAX_SESSIONS + 2).unwrap();
    let begun = place(&|(key, _)| *key == SessionKey(last));
    assert!(begun.is_some() && first < begun, "{first:?} {begun:?}");
    assert!((0..=last).all(|key| ended(key) == 1));
}

/// Each session gives the same events in an interleaved stream as alone.
fn is_as_alone(executor: &DynExecutor, a: &str, b: &str) {
    let mut mixed = String::from("starting up\n");
    let (mut left, mut right) = (a.lines(), b.lines());
    loop {
        let (l, r) = (left.next(), right.next());
        for line in [l, r].into_iter().flatten() {
            mixed += line;
            mixed.push('\n');
        }
        if l.is_none() && r.is_none() {
            break;
        }
    }
    let all = run(executor, &mixed);
    let of = |key: u32| -> Vec<_> {
        all.iter().filter(|(of, _)| of.0 == key).map(|(_, event)| event.clone()).collect()
    };
    let alone =
        |log: &str| -> Vec<_> { run(executor, log).into_iter().map(|(_, event)| event).collect() };
    // Records before the first name belong to the first named session.
    assert_eq!(of(0), alone(&format!("starting up\n{a}")));
    assert_eq!(of(1), alone(b));
    let duplicates = all.iter().filter(
        |(_, e)| matches!(e, DomainEvent::Warning(w) if w.kind == WarningKind::DuplicateCall),
    );
    assert_eq!(duplicates.count(), 0);
}

#[test]
fn interleaved_sessions_do_not_mix() {
    let droid = r#"{"type":"system","subtype":"init","cwd":"/ID","session_id":"ID","tools":[],"model":"m-ID"}
{"type":"message","role":"user","id":"m","text":"hi ID","timestamp":1,"session_id":"ID"}
{"type":"tool_call","id":"call_0","toolName":"Read","parameters":{"file_path":"/ID/x"},"timestamp":2,"session_id":"ID"}
{"type":"tool_result","id":"call_0","isError":false,"value":"of ID","timestamp":3,"session_id":"ID"}
{"type":"completion","finalText":"done ID","numTurns":1,"durationMs":1,"session_id":"ID"}"#;
    is_as_alone(&DynExecutor::new(Droid), &droid.replace("ID", "a"), &droid.replace("ID", "b"));
    let claude = r#"{"type":"system","subtype":"init","cwd":"/ID","session_id":"ID","tools":[],"model":"claude-ID","uuid":"u1"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":3}}},"session_id":"ID","parent_tool_use_id":null,"uuid":"u2"}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"ID","parent_tool_use_id":null,"uuid":"u3"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}},"session_id":"ID","parent_tool_use_id":null,"uuid":"u4"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}},"session_id":"ID","parent_tool_use_id":null,"uuid":"u5"}
{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":3,"output_tokens":1}},"session_id":"ID","parent_tool_use_id":null,"uuid":"u6"}
{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"num_turns":1,"result":"hello","total_cost_usd":0.5,"usage":{"input_tokens":3,"output_tokens":2},"session_id":"ID","uuid":"u7"}"#;
    let claude_executor = DynExecutor::new(ClaudeStream);
    is_as_alone(&claude_executor, &claude.replace("ID", "a"), &claude.replace("ID", "b"));
}

/// The number of open sessions is bounded, and every session is finished.
#[test]
fn a_stream_of_many_sessions_keeps_few() {
    let executor = DynExecutor::new(Droid);
    let log: String = (0..1000)
        .map(|n| {
            format!(
                "{{\"type\":\"tool_call\",\"id\":\"c\",\"toolName\":\"Read\",\"parameters\":{{}},\
                     \"timestamp\":1,\"session_id\":\"s{n}\"}}\n"
            )
        })
        .collect();
    let events = run(&executor, &log);
    let ended = events.iter().filter(|(_, e)| matches!(e, DomainEvent::UpdateToolCall { .. }));
    assert_eq!(ended.count(), 1000);
    let sessions = Sessions::new(&executor);
    let mut state = sessions.init();
    for line in log.lines() {
        Record::read(line, |_, record| {
            let record = Located::new(Position::default(), record);
            state = sessions.reduce(std::mem::replace(&mut state, sessions.init()), record).0;
        });
    }
    assert_eq!(state.open().count(), MAX_SESSIONS);
    assert_eq!(state.open().last().unwrap().0, Some("s999"));
}

/// Open calls and early results of all sessions share one limit; those beyond it are emitted.
#[test]
fn what_all_sessions_hold_back_is_bounded() {
    let executor = DynExecutor::new(Droid);
    let sessions = Sessions::new(&executor);
    let (mut state, mut ended) = (sessions.init(), 0);
    let text = "x".repeat(1 << 20);
    for n in 0..MAX_SESSIONS {
        let line = format!(
            r#"{{"type":"tool_result","id":"c","isError":false,"value":"{text}","session_id":"s{n}"}}"#
        );
        Record::read(&line, |_, record| {
            let record = Located::new(Position::default(), record);
            let before = std::mem::replace(&mut state, sessions.init());
            let (next, events) = sessions.reduce(before, record);
            state = next;
            let entries = events.as_slice().iter();
            ended +=
                entries.filter(|event| matches!(event.item, DomainEvent::NewEntry { .. })).count();
        });
        let all: usize = state.open().map(|(_, state)| state.heap_size()).sum();
        assert!(all <= MAX_SESSIONS_SIZE, "{all}");
        // None ends while there is room for it.
        assert!(ended == 0 || all > MAX_SESSIONS_SIZE - 2 * text.len(), "{all}");
    }
    assert!(ended > 0);
    assert_eq!(ended + state.open().count(), MAX_SESSIONS);
    assert_eq!(state.open().last().unwrap().0, Some("s63"));
}

/// The sessions of the events that update an entry, with the entry's id.
fn changed(events: &[(SessionKey, DomainEvent)]) -> Vec<(u32, &str)> {
    let changed = events.iter().filter_map(|(key, event)| match event {
        DomainEvent::UpdateToolCall { corr_id, .. } => Some((key.0, CorrId::as_str(corr_id))),
        _ => None,
    });
    changed.collect()
}

/// A session file that continues under another id has one state: facts remain valid, and the result of an earlier call
/// belongs to the session of the call.
#[test]
fn a_file_that_continues_under_another_id_has_several_sessions() {
    let executor = Registry::builtin().named("claude-session").cloned().unwrap();
    let record = |session: &str, uuid: u32, message: &str| {
        let role = if message.contains("tool_result") { "user" } else { "assistant" };
        format!(
            r#"{{"type":"{role}","sessionId":"{session}","uuid":"u{uuid}","cwd":"/p","version":"2.0","message":{{"role":"{role}",{message}}}}}"#
        )
    };
    let call = |id: &str| {
        format!(
            r#""id":"m-{id}","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"ls"}}}}]"#
        )
    };
    let result = |id: &str| {
        format!(r#""content":[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}]"#)
    };
    let log = [
        record("a", 1, &call("c1")),
        record("a", 2, &call("c2")),
        record("b", 3, &call("c3")),
        record("b", 4, &result("c1")),
        record("b", 5, &result("c3")),
    ];
    let events = run(&executor, &log.join("\n"));
    // The second call has no result; its end belongs to its own session.
    assert_eq!(changed(&events), [(0, "c1"), (1, "c3"), (0, "c2")]);
    let facts = |key: u32| {
        let mut all = Session::default();
        for (_, event) in events.iter().filter(|(of, _)| of.0 == key) {
            if let DomainEvent::Session(news) = event {
                all.merge(news);
            }
        }
        (all.session_id, all.cwd)
    };
    let expected = |id: &str| (Some(SessionId::from(id)), Some(Text::from("/p")));
    assert_eq!((facts(0), facts(1)), (expected("a"), expected("b")));
    let ends: Vec<_> =
        events.iter().filter(|(_, event)| *event == DomainEvent::SessionEnded).collect();
    assert_eq!(ends.iter().map(|(key, _)| key.0).collect::<Vec<_>>(), [0, 1]);
}

/// A program that knows its executor needs no erased one.
#[test]
fn a_known_executor_keeps_sessions_apart_too() {
    let log = r#"{"type":"message","role":"user","id":"1","text":"one","session_id":"a"}
{"type":"message","role":"user","id":"2","text":"two","session_id":"b"}
{"type":"message","role":"user","id":"3","text":"three","session_id":"a"}"#;
    let known = run_by(&Sessions::new(ExecutorReducer::new(Droid)), log);
    assert_eq!(known, run(&DynExecutor::new(Droid), log));
    let sessions: Vec<_> = known
        .iter()
        .filter(|(_, event)| matches!(event, DomainEvent::NewEntry { .. }))
        .map(|(key, _)| key.0)
        .collect();
    assert_eq!(sessions, [0, 1, 0]);
}
