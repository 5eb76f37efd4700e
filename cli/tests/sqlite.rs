//! The database as a ledger: the committed rows are those of the events, however the events are split.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::logs::{assert_same, dump};
use foldline::ledger::{Checkpoint, Commit, CommitError, Ledger, Mark, SourceFacts};
use foldline_database::{
    Prune, Rows, SessionEvents,
    sqlite::{DEFAULT_WAIT, Database, Output, SqliteError},
};
use foldline_domain::{
    ActionType, Conversation, CorrId, DomainEvent, Json, Located, NormalizedEntry,
    NormalizedEntryType, Position, Session, SessionKey, Text, Timestamp, TokenUsage, ToolResult,
    ToolStatus, ToolUse, Warning, WarningKind,
};
use serde_json::json;

fn session(id: &str, more: Session) -> DomainEvent {
    DomainEvent::Session(Box::new(Session { session_id: Some(id.into()), ..more }))
}

fn entry(entry_type: NormalizedEntryType, text: &str, at: i64) -> NormalizedEntry {
    NormalizedEntry::new(entry_type, text).at(Some(Timestamp::from_millis(at)))
}

fn said(text: &str, at: i64) -> DomainEvent {
    DomainEvent::entry(entry(NormalizedEntryType::AssistantMessage, text, at))
}

fn tool(action: ActionType, status: ToolStatus, at: i64) -> NormalizedEntry {
    let mut tool = ToolUse::new("Tool", action);
    tool.status = status;
    let mut entry = entry(NormalizedEntryType::ToolUse(tool), "title", at);
    entry.metadata_mut().parent_corr_id = Some("parent".into());
    entry.metadata_mut().message_id = Some("message".into());
    entry
}

fn called(id: &str, action: ActionType, at: i64) -> DomainEvent {
    let mut entry = tool(action, ToolStatus::Created, at);
    entry.metadata_mut().corr_id = Some(id.into());
    DomainEvent::NewToolCall { corr_id: id.into(), entry: entry.into() }
}

fn ended(id: &str, mut action: ActionType, result: ToolResult, status: ToolStatus) -> DomainEvent {
    action.set_result(result);
    let mut entry = tool(action, status, 5);
    entry.metadata_mut().corr_id = Some(id.into());
    DomainEvent::UpdateToolCall { corr_id: id.into(), entry: entry.into() }
}

fn run(command: &str) -> ActionType {
    ActionType::CommandRun { command: command.into(), result: None }
}

fn other(arguments: &serde_json::Value) -> ActionType {
    let arguments = Some(Json::from(arguments));
    ActionType::Tool { tool_name: "mcp__x__y".into(), arguments, result: None }
}

/// Everything that can happen, in one session.
fn events() -> Vec<DomainEvent> {
    let usage = |cost| DomainEvent::Usage {
        usage: Box::new(TokenUsage {
            input_tokens: Some(3),
            cost_usd: Some(cost),
            ..Default::default()
        }),
        model: Some("m".into()),
        message_id: None,
        timestamp: None,
    };
    let grow =
        |id: &str, text: &str| DomainEvent::GrowEntry { corr_id: id.into(), text: text.into() };
    let read: Text = serde_json::from_str(r#""caf\u00e9 \u0000 \ud83d\ude00""#).unwrap();
    vec![
        session("s", Session { agent: Some("droid".into()), ..Session::default() }),
        said("hello\nworld", 10),
        DomainEvent::OpenEntry {
            corr_id: "m/0".into(),
            entry: entry(NormalizedEntryType::Thinking, "grow", 11).into(),
        },
        called("a", run("ls"), 12),
        usage(0.1),
        grow("m/0", "ing"),
        called("b", other(&json!({"n": 1})), 13),
        ended("a", run("ls"), read.into(), ToolStatus::Success),
        usage(0.2),
        grow("m/0", " text"),
        DomainEvent::CloseEntry { corr_id: "m/0".into(), entry: None },
        Warning::new(WarningKind::UnknownField, "first").about("x.y").into(),
        DomainEvent::OpenEntry {
            corr_id: "m/1".into(),
            entry: entry(NormalizedEntryType::AssistantMessage, "will be", 14).into(),
        },
        usage(0.3),
        grow("m/1", " replaced"),
        DomainEvent::CloseEntry {
            corr_id: "m/1".into(),
            entry: Some(entry(NormalizedEntryType::AssistantMessage, "replaced", 14).into()),
        },
        ended(
            "b",
            other(&json!({"n": 1})),
            ToolResult::Json(Json::from(&json!({"deep": [1, 2, {"x": null}]}))),
            ToolStatus::Denied { reason: Some("no".into()) },
        ),
        Warning::new(WarningKind::UnknownField, "second").about("x.y").into(),
        DomainEvent::OpenEntry {
            corr_id: "m/2".into(),
            entry: entry(NormalizedEntryType::AssistantMessage, "never ", 15).into(),
        },
        grow("m/2", "closed"),
        called("c", run("sleep"), 16),
        ended("stranger", run("x"), Text::from("y").into(), ToolStatus::Success),
        session("s", Session { title: Some("t".into()), ..Session::default() }),
    ]
}

fn located(events: Vec<DomainEvent>) -> Vec<Located<DomainEvent>> {
    let source = |at: usize| Position { line: at as u64 + 1, offset: at as u64 * 100 };
    events.into_iter().enumerate().map(|(at, event)| Located::new(source(at), event)).collect()
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn open(path: &Path) -> Database {
    Database::open(path, DEFAULT_WAIT).unwrap()
}

fn commit(expected: Option<u64>, events: &[Located<DomainEvent>], line: u64) -> Commit<Rows> {
    let place = |line| Position { line, offset: line * 100 };
    Commit {
        source: "log".into(),
        expected: expected.map(place),
        checkpoint: Checkpoint {
            facts: SourceFacts { path: "log".into(), format: "droid".into(), ..Default::default() },
            position: place(line),
            state: Json::from(&json!({"line": line})),
            complete: false,
        },
        output: events.iter().collect(),
    }
}

/// Commits the events in segments that end at `cuts`.
fn write(path: &Path, events: Vec<DomainEvent>, cuts: &[usize]) {
    write_located(path, located(events), cuts);
}

fn write_located(path: &Path, mut events: Vec<Located<DomainEvent>>, cuts: &[usize]) {
    let (mut expected, mut begun) = (None, 0);
    let ends: Vec<_> = cuts.iter().copied().chain([events.len()]).collect();
    for end in ends {
        let rest = events.split_off(end - begun);
        // Opened again each time, as after a crash.
        let mut database = open(path);
        database.commit(&[commit(expected, &events, end as u64)], &[]).unwrap();
        events = rest;
        expected = Some(end as u64);
        begun = end;
    }
}

#[test]
fn the_rows_are_the_conversation_that_the_events_fold_to() {
    let place = Place::new();
    write(&place.path("db"), events(), &[]);
    let conversation: Conversation = events().iter().collect();
    let database = open(&place.path("db"));
    let mut stored = Vec::new();
    database.entries(1, 0..i64::MAX, |entry| stored.push(entry)).unwrap();
    assert_eq!(stored.len(), conversation.entries.len());
    for (index, (stored, folded)) in stored.iter().zip(&conversation.entries).enumerate() {
        assert_eq!(stored.index.get(), index);
        assert_eq!(stored.entry, **folded);
        assert_eq!(
            serde_json::to_value(&stored.entry).unwrap(),
            serde_json::to_value(&**folded).unwrap()
        );
    }
    let mut part = Vec::new();
    database.entries(1, 2..4, |entry| part.push(entry)).unwrap();
    assert_eq!(part, stored[2..4]);

    let connection = rusqlite::Connection::open(place.path("db")).unwrap();
    let cost: f64 =
        connection.query_row("SELECT cost_usd FROM usage", [], |row| row.get(0)).unwrap();
    assert_eq!(cost, conversation.summary.usage.unwrap().cost_usd.unwrap());
    let warnings: u64 = conversation.summary.warnings.values().sum();
    let counted: i64 =
        connection.query_row("SELECT sum(count) FROM warnings", [], |row| row.get(0)).unwrap();
    assert_eq!(counted, warnings as i64);
}

#[test]
fn it_does_not_matter_where_the_log_was_cut() {
    let place = Place::new();
    let count = events().len();
    write(&place.path("whole"), events(), &[]);
    let whole = dump(&place.path("whole"));
    for cut in 1..count {
        let path = place.path(&format!("cut-{cut}"));
        write(&path, events(), &[cut]);
        assert_same(&dump(&path), &whole, &format!("cut at {cut}"));
    }
    let everywhere: Vec<_> = (1..count).collect();
    write(&place.path("everywhere"), events(), &everywhere);
    assert_same(&dump(&place.path("everywhere")), &whole, "cut everywhere");
}

/// Whether an entry that is open at this place has text that comes later.
fn grows_on(events: &[DomainEvent], cut: usize) -> bool {
    let (before, after) = events.split_at(cut);
    let is_open = |id: &CorrId| {
        before
            .iter()
            .any(|it| matches!(it, DomainEvent::OpenEntry { corr_id, .. } if corr_id == id))
    };
    after.iter().any(|event| match event {
        DomainEvent::GrowEntry { corr_id, .. }
        | DomainEvent::CloseEntry { corr_id, entry: Some(_) } => is_open(corr_id),
        _ => false,
    })
}

#[test]
fn a_stored_session_is_continued_where_it_was_read_to() {
    let place = Place::new();
    let count = events().len();
    for cut in 1..count {
        let path = place.path(&format!("cut-{cut}"));
        let mut rest = located(events());
        let begun: Vec<_> = rest.drain(..cut).collect();
        let mut database = open(&path);
        database.commit(&[commit(None, &begun, cut as u64)], &[]).unwrap();
        let (mut reading, mut conversation) = (SessionEvents::new(1), Conversation::default());
        assert!(reading.read(&database, |event| conversation.apply(&event)).unwrap());
        assert!(reading.read(&database, |event| panic!("{event:?}")).unwrap());
        database.commit(&[commit(Some(cut as u64), &rest, count as u64)], &[]).unwrap();
        let is_continued = reading.read(&database, |event| conversation.apply(&event)).unwrap();
        assert_eq!(is_continued, !grows_on(&events(), cut), "cut at {cut}");
        if is_continued {
            let mut whole = Conversation::default();
            database.events(1, |event| whole.apply(&event)).unwrap();
            assert_eq!(conversation.entries, whole.entries, "cut at {cut}");
            assert_eq!(conversation.summary.session, whole.summary.session);
            assert_eq!(conversation.summary.warnings, whole.summary.warnings, "cut at {cut}");
            let [cost, expected] =
                [conversation, whole].map(|it| it.summary.usage.unwrap().cost_usd.unwrap());
            assert!((cost - expected).abs() < 1e-9, "cut at {cut}: {cost}");
        }
        database.prune(Prune::Before(Timestamp::from_millis(i64::MAX)), false).unwrap();
        assert!(!reading.read(&database, |event| panic!("{event:?}")).unwrap());
    }
}

#[test]
fn a_commit_is_refused_unless_it_begins_where_the_last_one_ended() {
    let place = Place::new();
    let mut database = open(&place.path("db"));
    let name = "log".into();
    assert_eq!(database.load(&name).unwrap(), None);
    let hello = || located(vec![said("hello", 1)]);
    let moved = |result| match result {
        Err(CommitError::Moved { expected, stored, .. }) => (expected, stored),
        other => panic!("{other:?}"),
    };
    let at = |line| Some(Position { line, offset: line * 100 });
    assert_eq!(moved(database.commit(&[commit(Some(1), &hello(), 2)], &[])), (at(1), None));
    database.commit(&[commit(None, &hello(), 1)], &[]).unwrap();
    assert_eq!(moved(database.commit(&[commit(None, &hello(), 1)], &[])), (None, at(1)));
    // All or nothing: the first would have been right.
    let both = vec![commit(Some(1), &hello(), 2), commit(Some(1), &hello(), 3)];
    assert_eq!(moved(database.commit(&both, &[])), (at(1), at(2)));

    let checkpoint = database.load(&name).unwrap().unwrap();
    assert_eq!(Some(checkpoint.position), at(1));
    assert_eq!(checkpoint.state, Json::from(&json!({"line": 1})));
    assert_eq!(database.totals().unwrap().entries, 1);

    assert!(database.forget(&name).unwrap());
    assert!(!database.forget(&name).unwrap());
    assert_eq!(database.load(&name).unwrap(), None);
    assert_eq!(dump(&place.path("db")), "", "search index included");
}

#[test]
fn each_session_has_the_facts_the_entries_and_the_calls_of_its_own_events() {
    let place = Place::new();
    let say = |text: &str| said(text, 1);
    let begin =
        Session { agent: Some("droid".into()), cwd: Some("/x".into()), ..Session::default() };
    let open = |text: &str| DomainEvent::OpenEntry {
        corr_id: "text".into(),
        entry: entry(NormalizedEntryType::AssistantMessage, text, 3).into(),
    };
    let grow = |text: &str| DomainEvent::GrowEntry { corr_id: "text".into(), text: text.into() };
    // Both have a call and a growing text of the same id.
    let events = || {
        let events = vec![
            (0, say("before anything is known")),
            (0, session("one", begin.clone())),
            (0, called("a", run("ls"), 2)),
            (0, open("of ")),
            (1, session("two", Session::default())),
            (1, called("a", run("pwd"), 2)),
            (1, open("of ")),
            (1, grow("two")),
            (0, grow("one")),
            (0, ended("a", run("ls"), Text::from("late").into(), ToolStatus::Success)),
            (1, say("in two")),
        ];
        let (keys, events): (Vec<_>, Vec<_>) = events.into_iter().unzip();
        let stamp = |(key, event): (u32, Located<_>)| event.in_session(SessionKey(key));
        keys.into_iter().zip(located(events)).map(stamp).collect::<Vec<_>>()
    };
    write_located(&place.path("whole"), events(), &[]);
    let cuts: Vec<_> = (1..events().len()).collect();
    write_located(&place.path("cut"), events(), &cuts);
    assert_same(&dump(&place.path("cut")), &dump(&place.path("whole")), "");
    let connection = rusqlite::Connection::open(place.path("whole")).unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let mut query = connection.prepare(sql).unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(
        rows(
            "SELECT concat_ws(' ', number, session_id, agent, cwd, entries) FROM sessions ORDER BY id"
        ),
        ["0 one droid /x 3", "1 two 3"]
    );
    assert_eq!(
        rows("SELECT content FROM entries WHERE content LIKE 'of %' ORDER BY session"),
        ["of one", "of two"]
    );
    assert_eq!(rows("SELECT status FROM tool_calls ORDER BY session"), ["success", "created"]);
    assert_eq!(rows("SELECT kind FROM warnings"), [""; 0]);
}

#[test]
fn a_database_of_a_later_version_is_refused() {
    let place = Place::new();
    drop(open(&place.path("db")));
    let connection = rusqlite::Connection::open(place.path("db")).unwrap();
    connection.pragma_update(None, "user_version", 1000).unwrap();
    for result in [
        Database::open(&place.path("db"), DEFAULT_WAIT),
        Database::open_read_only(&place.path("db"), DEFAULT_WAIT),
    ] {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("was made by a later version of foldline"), "{error}");
    }
}

/// The bytes that a commit appends to a file, of which `written` bytes are on the disk.
fn output(written: u64, offset: u64, bytes: &str) -> Output {
    let mark = Mark { name: "file".to_owned(), state: Json::from(&json!({"written": written})) };
    Output { mark, written, offset, bytes: bytes.into(), recorded: BTreeSet::new() }
}

#[test]
fn the_outbox_keeps_what_is_not_yet_in_the_file() {
    let place = Place::new();
    let mut database = open(&place.path("db"));
    let events = located(events());
    let outbox = |database: &Database, offset| {
        let bytes = database.outbox("file", offset).unwrap();
        bytes.map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let first = [commit(None, &events[..2], 2)];
    let (_, commits) = database.commit_with(&first, &[output(0, 0, "one")], &[], 0).unwrap();
    assert_eq!((commits, database.commits().unwrap()), (1, 1));
    drop(database);

    let mut database = open(&place.path("db"));
    assert_eq!(outbox(&database, 0).as_deref(), Some("one"));
    assert_eq!(outbox(&database, 3), None);
    let known = database.outputs().unwrap();
    assert_eq!((known[0].name.as_str(), known[0].commits), ("file", 1));
    // Nothing was written by now, then all of it.
    database.commit_with(&[], &[output(0, 3, "two")], &[], 1).unwrap();
    assert_eq!(
        (outbox(&database, 0), outbox(&database, 3)),
        (Some("one".into()), Some("two".into()))
    );
    let (_, commits) = database.commit_with(&[], &[output(6, 6, "")], &[], 1).unwrap();
    assert_eq!((outbox(&database, 0), outbox(&database, 3)), (None, None));
    assert_eq!(commits, 1, "nothing of a source was added");

    // Data of an undone commit was never in the outbox.
    let replacement = database.begin_replacing(&"log".into()).unwrap();
    let again = [commit(None, &events[..3], 3)];
    database.commit_with(&again, &[output(6, 6, "undone")], &[], 1).unwrap();
    database.undo_replacing(replacement).unwrap();
    assert_eq!((outbox(&database, 6), database.commits().unwrap()), (None, 1));
}

#[test]
fn a_commit_that_others_made_without_the_outputs_is_noticed() {
    let place = Place::new();
    let (mut one, mut two) = (open(&place.path("db")), open(&place.path("db")));
    assert_eq!(one.id().unwrap(), two.id().unwrap());
    assert_ne!(one.id().unwrap(), open(&place.path("other")).id().unwrap());
    let events = located(events());
    one.commit_with(&[commit(None, &events[..2], 2)], &[output(0, 0, "one")], &[], 0).unwrap();
    let other = Commit { source: "other".into(), ..commit(None, &events[..2], 2) };
    two.commit(&[other], &[]).unwrap();
    let before = dump(&place.path("db"));
    let refused =
        one.commit_with(&[commit(Some(2), &events[2..4], 4)], &[output(3, 3, "two")], &[], 1);
    let Err(CommitError::Failed(SqliteError::Overtaken(path))) = refused else { panic!() };
    assert_eq!(path, place.path("db"));
    assert_same(&dump(&place.path("db")), &before, "");
    assert_eq!(one.outbox("file", 3).unwrap(), None);
}
