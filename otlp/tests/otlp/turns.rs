//! Turns as traces: their ids, their roots, and turns that are closed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use foldline::{
    position::by_item,
    transduce::{Batch, Emitter, Resume},
};
use foldline_domain::{
    ActionType, CorrId, DomainEvent, Metadata, NormalizedEntry, NormalizedEntryType, Parent,
    Session, Timestamp, TokenUsage, ToolStatus, ToolUse, per_session,
};
use foldline_otlp::{AgentRun, Otlp, Resource, Signal, TraceParent, TraceScope};
use serde_json::Value;

use super::signals::{attribute, events, every_fixture, records, requests, spans};

/// The spans of a log whose parents are not sent, and those whose ids repeat.
fn orphans_and_repeats(requests: &[Value]) -> (usize, usize) {
    let spans = spans(requests);
    let ids: BTreeSet<_> = spans.iter().map(|span| context(span)).collect();
    let orphans = spans.iter().filter(|span| {
        let parent = span["parentSpanId"].as_str();
        parent.is_some_and(|parent| !ids.contains(&(span["traceId"].as_str().unwrap(), parent)))
    });
    let unique: BTreeSet<_> = spans.iter().map(|span| span["spanId"].as_str()).collect();
    (orphans.count(), spans.len() - unique.len())
}

fn context(span: &Value) -> (&str, &str) {
    (span["traceId"].as_str().unwrap(), span["spanId"].as_str().unwrap())
}

fn of_scope(scope: TraceScope) -> impl Fn() -> Otlp {
    move || Otlp::default().with_trace_scope(scope)
}

#[test]
fn every_span_has_its_parent_and_an_id_of_its_own() {
    let mut traces = 0;
    for (executor, log) in every_fixture() {
        let events = events(&executor, &fs::read(&log).unwrap());
        let turns = requests(&events);
        assert_eq!(orphans_and_repeats(&turns), (0, 0), "{}", log.display());
        let mut roots = BTreeMap::new();
        for span in spans(&turns) {
            let is_root = span.get("parentSpanId").is_none();
            *roots.entry(span["traceId"].as_str().unwrap()).or_insert(0) += usize::from(is_root);
        }
        assert!(roots.values().all(|roots| *roots == 1), "{}: {roots:?}", log.display());
        traces += roots.len();
        // The same log gives the same ids.
        assert_eq!(requests(&events), turns);
        let session = of_scope(TraceScope::Session);
        let mut emitter = per_session(|_| by_item(session()));
        let mut of_sessions = BTreeMap::<_, Vec<_>>::new();
        let mut take = |(key, signal)| {
            let request = serde_json::to_value(Resource::default().request(signal)).unwrap();
            of_sessions.entry(key).or_default().push(request);
        };
        events.iter().for_each(|event| emitter.emit(event).drain_with(&mut take));
        emitter.finish().drain_with(&mut take);
        for requests in of_sessions.values() {
            assert_eq!(orphans_and_repeats(requests), (0, 0), "{}", log.display());
            let traces: BTreeSet<_> =
                spans(requests).iter().map(|span| span["traceId"].to_string()).collect();
            assert!(traces.len() < 2, "{}", log.display());
        }
    }
    assert!(traces > 150, "{traces}");
}

fn session(parent: Option<Parent>) -> DomainEvent {
    DomainEvent::Session(Box::new(Session {
        session_id: Some("s".into()),
        agent: Some("droid".into()),
        parent: parent.map(Box::new),
        ..Session::default()
    }))
}

fn say(kind: NormalizedEntryType, millis: i64) -> DomainEvent {
    let entry = NormalizedEntry::new(kind, "text");
    DomainEvent::entry(entry.at(Some(Timestamp::from_millis(millis))))
}

fn prompt(millis: i64) -> DomainEvent {
    say(NormalizedEntryType::UserMessage, millis)
}

fn answer(millis: i64) -> DomainEvent {
    say(NormalizedEntryType::AssistantMessage, millis)
}

/// A call that begins at this time, in the sub-agent that another call started.
fn call(id: &str, parent: Option<&str>, status: ToolStatus, millis: i64) -> DomainEvent {
    let action = ActionType::TaskCreate {
        description: "work".into(),
        prompt: None,
        subagent_type: Some("helper".into()),
        result: None,
    };
    let mut tool = ToolUse::new("Task", action);
    tool.duration_ms = (status == ToolStatus::Success).then_some(1_000);
    tool.status = status;
    let mut entry = NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "work")
        .at(Some(Timestamp::from_millis(millis)));
    if let Some(parent) = parent {
        let parent = Some(CorrId::from(parent));
        entry.metadata = Some(Metadata { parent_corr_id: parent, ..Metadata::default() }.into());
    }
    let (corr_id, entry) = (CorrId::from(id), entry.into());
    DomainEvent::UpdateToolCall { corr_id, entry }
}

/// The requests of signals.
fn sent(signals: Batch<Signal>) -> Vec<Value> {
    let request = |signal| serde_json::to_value(Resource::default().request(signal)).unwrap();
    signals.into_iter().map(request).collect()
}

fn emit(otlp: &mut Otlp, events: &[DomainEvent]) -> Vec<Value> {
    events.iter().flat_map(|event| sent(otlp.emit(event))).collect()
}

/// The names of spans, each with the position of its parent among them.
fn names(requests: &[Value]) -> Vec<(&str, Option<usize>)> {
    let spans = spans(requests);
    let parent = |span: &Value| {
        let is_parent = |other: &&Value| other["spanId"] == span["parentSpanId"];
        spans.iter().position(is_parent)
    };
    spans.iter().map(|span| (span["name"].as_str().unwrap(), parent(span))).collect()
}

/// The root is sent when the next prompt comes, and what a sub-agent did is in the trace of its call.
#[test]
fn a_turn_is_sent_when_the_next_one_begins() {
    let mut otlp = Otlp::default();
    let first = [
        session(None),
        prompt(1_000),
        call("t1", None, ToolStatus::Created, 2_000),
        call("t2", Some("t1"), ToolStatus::Success, 3_000),
        call("t1", None, ToolStatus::Success, 2_000),
    ];
    let mut all = emit(&mut otlp, &first);
    assert_eq!(spans(&all).len(), 3);
    all.extend(emit(&mut otlp, &[prompt(9_000)]));
    let root = Some(3);
    assert_eq!(
        names(&all),
        [
            ("execute_tool Task", Some(2)),
            ("execute_tool Task", root),
            ("invoke_agent helper", Some(1)),
            ("invoke_agent droid", None)
        ]
    );
    let of = |name: &str| spans(&all).iter().map(|span| attribute(span, name).cloned()).collect();
    let kinds: Vec<_> = of("openinference.span.kind");
    assert_eq!(kinds, ["TOOL", "TOOL", "AGENT", "AGENT"].map(|kind| Some(kind.into())));
    let conversations: Vec<_> = of("gen_ai.conversation.id");
    assert!(conversations.iter().all(|id| *id == Some("s".into())));
    all.extend(emit(&mut otlp, &[answer(10_000)]));
    all.extend(sent(otlp.finish()));
    let traces: BTreeSet<_> = spans(&all).iter().map(|span| context(span).0).collect();
    assert_eq!((traces.len(), orphans_and_repeats(&all)), (2, (0, 0)));
    let [session] = records(&all)[..] else { panic!("{all:?}") };
    assert_eq!(
        (session["eventName"].as_str(), session.get("traceId")),
        (Some("foldline.session"), None)
    );
}

/// An agent may count its calls from 1 again in each turn.
#[test]
fn calls_of_two_turns_with_one_id_are_two_spans() {
    let mut otlp = Otlp::default();
    let ended = || call("1", None, ToolStatus::Success, 2_000);
    let turns =
        [session(None), prompt(1_000), ended(), ended(), prompt(5_000), ended(), answer(7_000)];
    let mut all = emit(&mut otlp, &turns);
    all.extend(sent(otlp.finish()));
    // A call that is reported again in its turn is sent once.
    let calls = spans(&all).iter().filter(|span| span["name"] == "execute_tool Task").count();
    assert_eq!((calls, orphans_and_repeats(&all)), (2, (0, 0)));
}

#[test]
fn a_call_without_a_result_has_no_status_and_ends_with_its_turn() {
    let mut otlp = Otlp::default();
    let turns = [
        session(None),
        prompt(1_000),
        call("1", None, ToolStatus::Created, 2_000),
        answer(3_000),
        prompt(50_000),
        answer(60_000),
    ];
    emit(&mut otlp, &turns);
    let all = sent(otlp.finish());
    let call = spans(&all).into_iter().find(|span| span["name"] == "execute_tool Task").unwrap();
    assert_eq!((call.get("status"), attribute(call, "error.type")), (None, None));
    assert_eq!(attribute(call, "foldline.unfinished"), Some(&true.into()));
    assert_eq!(call["endTimeUnixNano"], "3000000000");
}

/// What arrives after a turn was closed is a further span below its root, and calls that were open end as they are.
#[test]
fn a_closed_turn_is_continued() {
    let usage = |millis| DomainEvent::Usage {
        usage: Box::new(TokenUsage { input_tokens: Some(5), ..TokenUsage::default() }),
        model: Some("m".into()),
        message_id: None,
        timestamp: Some(Timestamp::from_millis(millis)),
    };
    let mut otlp = Otlp::default();
    let begun = [session(None), prompt(1_000), call("1", None, ToolStatus::Created, 2_000)];
    let mut all = emit(&mut otlp, &begun);
    all.extend(sent(otlp.close_turn()));
    assert!(sent(otlp.close_turn()).is_empty());
    // The memory has what was closed.
    let mut resumed = Otlp::default();
    resumed.resume(otlp.state());
    let rest = [call("1", None, ToolStatus::Success, 2_000), usage(400_000), usage(500_000)];
    for (at, event) in rest.iter().enumerate() {
        all.extend(emit(&mut resumed, std::slice::from_ref(event)));
        if at > 0 {
            all.extend(sent(resumed.close_turn()));
        }
    }
    all.extend(emit(&mut resumed, &[prompt(600_000), answer(700_000)]));
    all.extend(sent(resumed.finish()));
    let root = Some(0);
    assert_eq!(
        names(&all),
        [
            ("invoke_agent droid", None),
            ("execute_tool Task", root),
            ("chat m", Some(3)),
            ("invoke_agent droid", root),
            ("chat m", Some(5)),
            ("invoke_agent droid", root),
            ("invoke_agent droid", None)
        ]
    );
    assert_eq!(orphans_and_repeats(&all), (0, 0));
    let traces: Vec<_> = spans(&all).iter().map(|span| context(span).0).collect();
    assert!(traces[..6].iter().all(|trace| *trace == traces[0]) && traces[6] != traces[0]);
    let tokens = |at: usize| attribute(spans(&all)[at], "gen_ai.usage.input_tokens").cloned();
    assert_eq!([tokens(0), tokens(3), tokens(5)], [None, Some("5".into()), Some("5".into())]);
}

/// A sub-agent's log answers one prompt. The trace of a turn that called it is not known to it.
#[test]
fn the_log_of_a_sub_agent_is_one_trace() {
    let parent = || Parent { corr_id: Some("t1".into()), ..Parent::of_agent("above") };
    let turns = [prompt(1_000), answer(2_000), prompt(3_000), answer(4_000)];
    let events: Vec<_> = std::iter::once(session(Some(parent()))).chain(turns).collect();
    let of = |scope| {
        let mut otlp = of_scope(scope)();
        let mut all = emit(&mut otlp, &events);
        all.extend(sent(otlp.finish()));
        all
    };
    let all = of(TraceScope::Turn);
    let traces: BTreeSet<_> = spans(&all).iter().map(|span| context(span).0).collect();
    assert_eq!(traces.len(), 1);
    let root = *spans(&all).last().unwrap();
    assert_eq!((root["name"].as_str(), root.get("links")), (Some("session"), None));
    assert_eq!(attribute(root, "foldline.parent.conversation.id"), Some(&"above".into()));
    assert_eq!(attribute(root, "foldline.parent.tool.call.id"), Some(&"t1".into()));
    // The trace of a session is known.
    let all = of(TraceScope::Session);
    assert_eq!(spans(&all).last().unwrap()["links"].as_array().map(Vec::len), Some(1));
}

/// Between two turns of a session that is one trace, it waits for the user.
#[test]
fn a_session_waits_for_the_user() {
    let turns = [session(None), prompt(1_000), answer(2_000), prompt(50_000), answer(60_000)];
    let of = |scope| {
        let mut otlp = of_scope(scope)();
        let mut all = emit(&mut otlp, &turns);
        all.extend(sent(otlp.finish()));
        all
    };
    let all = of(TraceScope::Session);
    let waits = spans(&all).into_iter().filter(|span| span["name"] == "wait_for_user");
    let times: Vec<_> =
        waits.map(|span| (&span["startTimeUnixNano"], &span["endTimeUnixNano"])).collect();
    assert_eq!(times, [(&"2000000000".into(), &"50000000000".into())]);
    assert_eq!(orphans_and_repeats(&all), (0, 0));
    assert!(names(&of(TraceScope::Turn)).iter().all(|(name, _)| *name == "invoke_agent droid"));
}

/// A session is below its caller, in its trace; a turn is a trace of its own, which links to it.
#[test]
fn a_caller_is_the_parent_of_a_session_and_a_link_of_a_turn() {
    let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let caller: TraceParent = caller.parse().unwrap();
    let caller = caller.with_state(Some("vendor=1".to_owned()));
    let turns = [session(None), prompt(1_000), answer(2_000), prompt(50_000), answer(60_000)];
    let of = |scope| {
        let mut otlp = of_scope(scope)().with_caller(Some(caller.clone()));
        let mut all = emit(&mut otlp, &turns);
        all.extend(sent(otlp.finish()));
        all
    };
    let all = of(TraceScope::Session);
    assert!(spans(&all).iter().all(|span| {
        context(span).0 == "0af7651916cd43dd8448eb211c80319c" && span["traceState"] == "vendor=1"
    }));
    assert_eq!(spans(&all).last().unwrap()["parentSpanId"], "b7ad6b7169203331");
    let all = of(TraceScope::Turn);
    assert_eq!(spans(&all).len(), 2);
    for root in spans(&all) {
        assert_eq!(root["links"][0]["spanId"], "b7ad6b7169203331");
        assert_ne!(root["traceId"], "0af7651916cd43dd8448eb211c80319c");
    }
}

#[test]
fn a_traceparent_is_read_as_it_is_specified() {
    let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    let read = |text: String| text.parse::<TraceParent>().map(|parent| parent.to_string());
    let expected = Ok(format!("00-{trace}-{span}-00"));
    assert_eq!(read(format!("00-{trace}-{span}-00")), expected);
    // A later version may state more.
    assert_eq!(read(format!("cc-{trace}-{span}-00-what")), expected);
    for wrong in [
        format!("00-{trace}-{span}-00-what"),
        format!("ff-{trace}-{span}-00"),
        format!("00-{}-{span}-00", trace.to_uppercase()),
        format!("00-{}-{span}-00", "0".repeat(32)),
        format!("00-{trace}-{}-00", "0".repeat(16)),
        format!("00-{trace}-{span}"),
        String::new(),
    ] {
        assert!(read(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn the_span_of_a_run_is_below_its_caller() {
    let caller: TraceParent =
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
    let run = |code| {
        let run = AgentRun {
            span: caller.child("00f067aa0ba902b7").unwrap(),
            caller: Some(caller.clone()),
            executable: "agent".to_owned(),
            pid: 7,
            started: Timestamp::from_millis(1_000),
        };
        let signal = run.ended(Timestamp::from_millis(3_000), code).unwrap();
        sent(Batch::one(signal)).remove(0)
    };
    let ended = run(Some(0));
    let [span] = spans(std::slice::from_ref(&ended))[..] else { panic!("{ended}") };
    assert_eq!(
        (span["parentSpanId"].as_str(), span.get("status")),
        (Some("b7ad6b7169203331"), None)
    );
    assert_eq!(context(span), ("0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"));
    let failed = run(Some(3));
    let [span] = spans(std::slice::from_ref(&failed))[..] else { panic!("{failed}") };
    assert_eq!(
        (&span["status"]["code"], attribute(span, "error.type")),
        (&2.into(), Some(&"3".into()))
    );
}
