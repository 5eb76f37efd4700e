//! Logging, as received by a subscriber.
//!
//! A separate test program, since `tracing` caches per process whether a message has a subscriber.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "that is how a test fails")]

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use foldline::{
    source::{Follow, LogFile, Step, Until},
    transduce::{Batch, Emitter, Transducer, emit_fn},
};
use foldline_agents::{ExecutorReducer, droid::Droid, wire::Record};
use foldline_domain::{
    ActionType, CorrId, DomainEvent, Located, NormalizedEntry, NormalizedEntryType, Position,
    Session, SessionId, SessionKey, ToolUse, by_item, locating,
    patch::{ConversationPatch, PatchEmitter},
    traced::Traced,
};
use tracing::{
    Event, Level, Span, Subscriber,
    field::{Field, Visit},
    info_span,
    level_filters::LevelFilter,
    span,
};
use tracing_subscriber::{
    Layer, Registry,
    layer::Context,
    layer::SubscriberExt,
    registry::{LookupSpan, Scope},
};

/// Collects log lines: `DEBUG source{path="log"}:session{id="a"}: message field=value`.
#[derive(Clone, Default)]
struct Capture(Arc<Mutex<Vec<String>>>);

impl Capture {
    /// The lines logged while `f` runs, down to a level.
    fn of(level: Level, f: impl FnOnce()) -> Vec<String> {
        let capture = Self::default();
        let layer = capture.clone().with_filter(LevelFilter::from_level(level));
        tracing::subscriber::with_default(Registry::default().with(layer), f);
        let lines = capture.0.lock().unwrap();
        lines.clone()
    }
}

/// The fields of a line or a span.
#[derive(Default)]
struct Fields {
    message: String,
    rest: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.rest += &format!(" {name}={value:?}"),
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, cx: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        cx.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, cx: Context<'_, S>) {
        let span = cx.span(id).unwrap();
        values.record(span.extensions_mut().get_mut::<Fields>().unwrap());
    }

    fn on_event(&self, event: &Event<'_>, cx: Context<'_, S>) {
        let mut line = format!("{} ", event.metadata().level());
        for span in cx.event_scope(event).into_iter().flat_map(Scope::from_root) {
            let extensions = span.extensions();
            let fields = &extensions.get::<Fields>().unwrap().rest;
            line += &format!("{}{{{}}}: ", span.name(), fields.trim_start());
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.0.lock().unwrap().push(format!("{line}{}{}", fields.message, fields.rest));
    }
}

const LOG: &str = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s\u001b[31m","tools":[],"model":"m"}
{"type":"tool_call","id":"call\u0007","toolName":"Execute","parameters":{"command":"ls"},"timestamp":1}
{"type":"tool_call","id":"open","toolName":"Execute","parameters":{"command":"ls"},"timestamp":2}
{"type":"tool_result","id":"call\u0007","isError":false,"value":"x","timestamp":3}
{"type":"new\u001b]0;title\u0007"}
{"type":"new"}"#;

fn replay(log: &str) {
    let source = info_span!("source", path = "log");
    let traced = Traced::new(source, by_item(PatchEmitter::default()));
    let mut transducer = Transducer::new(locating(ExecutorReducer::new(Droid)), traced);
    for (line, text) in (1..).zip(log.lines()) {
        Record::read(text, |_, record| {
            let session = transducer.emitter().span().clone();
            let _: Batch<ConversationPatch> = session
                .in_scope(|| transducer.step(Located::new(Position { line, offset: 0 }, record)));
        });
    }
    let session = transducer.emitter().span().clone();
    let (.., rest) =
        session.in_scope(|| transducer.finish::<Located<Record<'_>>, _, ConversationPatch>());
    assert_eq!(rest.as_slice().len(), 2);
}

#[test]
fn a_source_is_one_line_and_each_kind_of_warning_one() {
    let lines = Capture::of(Level::INFO, || replay(LOG));
    let expected = [
        r#"WARN source{path="log"}: not fully understood kind="unknown_event" count=2"#,
        r#"WARN source{path="log"}: not fully understood kind="unfinished_call" count=1"#,
        r#"INFO source{path="log"}: source read sessions=1 entries=5 calls=2 warnings=3"#,
    ];
    assert_eq!(lines, expected);
}

#[test]
fn each_record_says_what_became_of_the_calls() {
    let lines = Capture::of(Level::DEBUG, || replay(LOG));
    let session = r#"source{path="log"}: session{id="s\u{1b}[31m" agent="droid"}: "#;
    let reduced: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("record reduced"))
        .map(|line| line.replace(session, "").replace(r#"source{path="log"}: "#, "NO SESSION "))
        .collect();
    assert_eq!(
        reduced,
        [
            r#"DEBUG NO SESSION record reduced record="system" events=["session", "session", "new_entry"] open=0 added=0 removed=0 held=0"#,
            r#"DEBUG record reduced record="tool_call" events=["new_tool_call"] open=1 added=1 removed=0 held=0"#,
            r#"DEBUG record reduced record="tool_call" events=["new_tool_call"] open=2 added=1 removed=0 held=0"#,
            r#"DEBUG record reduced record="tool_result" events=["update_tool_call"] open=1 added=0 removed=1 held=0"#,
            r#"DEBUG record reduced record="new\u{1b}]0;title\u{7}" events=["warning", "new_entry"] open=1 added=0 removed=0 held=0"#,
            r#"DEBUG record reduced record="new" events=["warning", "new_entry"] open=1 added=0 removed=0 held=0"#,
            r#"DEBUG record reduced record="completion" events=["warning", "update_tool_call"] open=0 added=0 removed=1 held=0"#,
        ]
    );
    for expected in [
        r#"tool call added corr_id="call\u{7}" open=1"#,
        r#"tool call removed corr_id="call\u{7}" open=1"#,
        r#"tool call removed without a result corr_id="open" open=0"#,
        r#"entry added corr_id="call\u{7}" index=1 open=1"#,
        r#"entry replaced corr_id="call\u{7}" index=1 open=1"#,
    ] {
        let found = lines.iter().any(|line| line == &format!("DEBUG {session}{expected}"));
        assert!(found, "no {expected} in {lines:#?}");
    }
    let is_harmless = |line: &String| !line.chars().any(char::is_control);
    assert!(lines.iter().all(is_harmless), "{lines:#?}");
}

#[test]
fn a_correlation_that_is_missing_is_a_warning() {
    let action = ActionType::CommandRun { command: "ls".into(), result: None };
    let kind = NormalizedEntryType::ToolUse(ToolUse::new("Execute", action));
    let (corr_id, entry) = (CorrId::from("a\u{1b}"), NormalizedEntry::new(kind, "ls").into());
    let event = DomainEvent::UpdateToolCall { corr_id, entry };
    let lines = Capture::of(Level::WARN, || {
        PatchEmitter::default().patch(&event);
    });
    let expected = r#"WARN correlation missing: an update for an unknown entry corr_id="a\u{1b}""#;
    assert_eq!(lines, [expected]);
}

#[test]
fn the_sessions_of_a_source_have_a_span_each() {
    let lines = Capture::of(Level::TRACE, || {
        let quiet = emit_fn(|_: &Located<DomainEvent>| Batch::<()>::EMPTY);
        let mut traced = Traced::new(Span::none(), quiet);
        for (line, key, id) in [(1, 0, "a"), (2, 0, "a"), (3, 1, "b"), (4, 0, "a")] {
            let session = Session { session_id: Some(SessionId::from(id)), ..Default::default() };
            let event = DomainEvent::Session(Box::new(session));
            let event = Located::new(Position { line, offset: 0 }, event);
            let _ = traced.emit(&event.in_session(SessionKey(key)));
        }
        let _ = traced.finish();
    });
    let event = |id, line| {
        format!("TRACE session{{id={id:?}}}: event event=\"session\" line={line} offset=0")
    };
    let mut expected = vec![event("a", 1), event("a", 2), event("b", 3), event("a", 4)];
    expected.push("INFO source read sessions=2 entries=0 calls=0 warnings=0".to_owned());
    assert_eq!(lines, expected);
}

#[cfg(unix)]
#[test]
fn what_becomes_of_a_log_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log\u{1b}");
    std::fs::write(&path, "one\ntwo\n").unwrap();
    let lines = Capture::of(Level::DEBUG, || {
        let mut follow = Follow::open(&path, Until::EndOfFile).unwrap();
        assert!(matches!(follow.step(), Ok(Step::Bytes(_))));
        std::fs::write(&path, "2\n").unwrap();
        let span = follow.span();
        span.record("format", "droid");
        let _source = span.entered();
        assert!(matches!(follow.step(), Ok(Step::NextFile(_))));
    });
    let path = format!("{path:?}");
    assert!(path.contains("log\\u{1b}"));
    let expected = [
        format!("DEBUG log opened path={path} is_regular=true"),
        format!(
            "WARN source{{path={path} format=\"droid\"}}: the log was changed, and a part may be lost \
             path={path} notice=Truncated {{ read: 8, lost: 0 }}"
        ),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_stream_has_a_span_too() {
    let lines = Capture::of(Level::DEBUG, || {
        let log = LogFile::stream("-", &b""[..]);
        log.span().in_scope(|| tracing::info!("read"));
    });
    let opened = r#"DEBUG log opened path="-" is_regular=false"#;
    assert_eq!(lines, [opened, r#"INFO source{path="-"}: read"#]);
}
