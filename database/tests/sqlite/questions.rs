//! Questions to a database of three sessions.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use foldline_database::{
    Store,
    query::*,
    sqlite::{DEFAULT_WAIT, Database},
};
use foldline_domain::pricing::Prices;

/// Two sessions of one task and one without; the second has a call that failed and text that looks like syntax.
fn database(folder: &tempfile::TempDir) -> Database {
    let database = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    database
        .connection()
        .execute_batch(
            "INSERT INTO sources (id, name, path, format, size, read_length, read_edges, line, offset, state, crc32,
                                  modified_at)
             VALUES (1, '/a', '/a', 'droid', 0, 0, x'', 3, 7, '{}', 0, 5000);
             INSERT INTO sessions (id, source, number, session_id, task, agent, cwd, title, first_at, last_at, entries,
                                   crc32)
             VALUES (1, 1, 0, 'one', 't', 'claude-code', '/p/shop', 'First
line', 1000, 2000, 1, 0),
                    (2, 1, 1, 'two', 't', 'codex', '/p/it''s', NULL, 3000, 9000, 2, 0),
                    (3, 1, 2, 'three', 'three', 'codex', NULL, '100%', NULL, NULL, 0, 0);
             INSERT INTO entries (id, session, idx, type, timestamp, line, offset, content, output, crc32)
             VALUES (1, 1, 0, 'assistant_message', 1500, 1, 0, 'some words', NULL, 0),
                    (2, 2, 0, 'user_message', 3000, 1, 0, ' /ide', NULL, 0),
                    (3, 2, 1, 'tool_use', 4000, 1, 0, 'ls', 'no such wordplay', 0);
             INSERT INTO tool_calls (entry, session, corr_id, kind, action_name, tool_name, status, action, crc32)
             VALUES (3, 2, 'c', 'execute', 'command_run', 'shell', 'failed', '{}', 0);
             INSERT INTO search (rowid, content, arguments, output)
             SELECT id, content, arguments, output FROM searched;
             INSERT INTO tool_paths VALUES (3, 'src/a.rs', 'edit', 0);
             INSERT INTO message_usage VALUES (1, 'm', 'gpt-5', 0, 10, 5, NULL, NULL, NULL, NULL, NULL, 0.5, 0),
                                              (2, 'm', 'gpt-5', 0, 10, 6, NULL, NULL, NULL, NULL, NULL, 0.7, 0);",
        )
        .unwrap();
    database
}

#[test]
fn a_filter_chooses_sessions() {
    const NONE: [i64; 0] = [];
    let folder = tempfile::tempdir().unwrap();
    let database = database(&folder);
    let chosen = |filter: SessionFilter| -> Vec<i64> {
        let found = database.sessions(&filter, SessionOrder::Latest).unwrap();
        found.into_iter().map(|session| session.number).collect()
    };
    let all = SessionFilter::default;
    let some = |text: &str| Some(text.to_owned());
    // A session without moments has the time of its file.
    assert_eq!(chosen(all()), [2, 3, 1]);
    assert_eq!(chosen(SessionFilter { is_listed: true, ..all() }), [2, 1]);
    assert_eq!(chosen(SessionFilter { agent: some("CLAUDE"), ..all() }), [1]);
    assert_eq!(chosen(SessionFilter { agent_name: some("claude"), ..all() }), NONE);
    assert_eq!(chosen(SessionFilter { project: some("it's"), ..all() }), [2]);
    assert_eq!(chosen(SessionFilter { project: some("x' OR 1 --"), ..all() }), NONE);
    assert_eq!(chosen(SessionFilter { project: some("SHOP"), ..all() }), [1]);
    assert_eq!(chosen(SessionFilter { project: some("%"), ..all() }), NONE);
    assert_eq!(chosen(SessionFilter { model: some("GPT"), ..all() }), [2, 1]);
    assert_eq!(chosen(SessionFilter { text: some("first"), ..all() }), [1]);
    assert_eq!(chosen(SessionFilter { text: some("wordpl"), ..all() }), [2]);
    assert_eq!(chosen(SessionFilter { text: some("\" *"), ..all() }), NONE);
    let period = Period { start: 2500, end: Period::ALL.end };
    assert_eq!(chosen(SessionFilter { period, ..all() }), [2, 3]);
    let named = |name| chosen(SessionFilter { name: Some(name), ..all() });
    assert_eq!(named(SessionName::IdBegins("t".to_owned())), [2, 3]);
    assert_eq!(named(SessionName::Title("FIRST".to_owned())), [1]);
    let limited = SessionFilter { offset: 1, limit: Some(1), ..all() };
    assert_eq!(chosen(limited), [3]);
    let running = Some(StateFilter::RunningSince(4000));
    assert_eq!(chosen(SessionFilter { state: running, ..SessionFilter::of_task("t") }), [2, 1]);
}

#[test]
fn answers_have_totals_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(&folder);
    let all = SessionFilter::default();
    let sessions = database.sessions(&all, SessionOrder::Failures).unwrap();
    assert_eq!((sessions[0].number, sessions[0].failures), (2, 1));
    assert_eq!((sessions[0].tokens, sessions[0].cost_usd), (Some(16), Some(0.7)));
    // The message counts where more is told of it; a command is a title where nothing else is.
    assert_eq!((sessions[2].tokens, sessions[0].title.as_deref()), (None, Some("/ide")));
    assert_eq!(sessions[2].title.as_deref(), Some("First"));
    // Whatever a filter states can be asked of every answer.
    let name = Some(SessionName::Log("/a".to_owned()));
    let state = Some(StateFilter::DoneBefore(9000));
    let every =
        SessionFilter { name, state, is_listed: true, text: Some("s".to_owned()), ..all.clone() };
    assert_eq!(database.tools(&every).unwrap().len(), 1);
    assert_eq!(database.files(&every, false).unwrap().len(), 1);
    assert_eq!(database.warnings(&every).unwrap(), []);
    assert_eq!(database.tasks(&every).unwrap().len(), 1);
    let tasks = database.tasks(&all).unwrap();
    assert_eq!((tasks[0].task.as_deref(), tasks[0].sessions, tasks[0].calls), (Some("t"), 2, 1));
    assert_eq!(database.tools(&all).unwrap()[0].failure_rate(), Some(1.0));
    assert_eq!(database.failures(&all).unwrap()[0].what.as_deref(), Some("ls"));
    assert_eq!(database.files(&all, true).unwrap()[0].changes, "edit");
    let of_file = database.sessions_of_file("it's/src/", &all, false).unwrap();
    assert_eq!(of_file[0].session, 2);
    let hits = |text| database.search(&SearchTerms::of(text).unwrap(), &all).unwrap();
    let [begin, end] = MATCH;
    let has = |entry: &FoundEntry, text: &str| entry.content.as_ref().unwrap().contains(text);
    assert!(has(&hits("words")[0], &format!("{begin}words{end}")));
    assert!(has(&hits("rdpl")[0], &format!("wo{begin}rdpl{end}ay")));
    assert_eq!(hits("rdpl")[0].session, 2);
    assert_eq!(database.read_to(2).unwrap(), Some((3, 7, false)));
    let used: Vec<_> =
        database.usage(&all).unwrap().iter().map(|used| used.messages.len()).collect();
    assert_eq!(used, [0, 1, 0]);
}

#[test]
fn nothing_that_is_typed_is_syntax() {
    let terms = |text| match SearchTerms::of(text) {
        Some(SearchTerms::All(terms)) => terms,
        _ => Vec::new(),
    };
    assert_eq!(terms("a AND b* NEAR(c)"), ["a", "AND", "b*", "NEAR(c)"]);
    assert_eq!(terms(r#"say "two words" col:x"#), ["say", "two words", "col:x"]);
    assert_eq!(terms(r#"open "quote"#), ["open", "quote"]);
    assert!(terms("*** --").is_empty());
}

#[test]
fn the_view_of_costs_has_the_price_of_the_day() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = database(&folder);
    // One day before the price fell, and the day on which it did.
    let used = "INSERT INTO message_usage VALUES (1, 'x', 'o3', 1749427200000, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0),
                                                 (1, 'y', 'o3', 1749513600000, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);";
    database.connection().execute_batch(used).unwrap();
    database.add_prices(Prices::builtin()).unwrap();
    let sql = "SELECT estimated_usd FROM cost WHERE model = 'o3' ORDER BY at";
    let mut costs = Vec::new();
    let store: &dyn Store = &database;
    store
        .rows(sql, &[], &mut |row| {
            costs.push(row.get::<f64>(0)?);
            Ok(())
        })
        .unwrap();
    assert_eq!(costs, [10.0, 2.0]);
    let session = database.session_row(1).unwrap().unwrap();
    assert_eq!(session.cost_usd, Some(12.0));
}

/// The work of an answer about two logs with the same messages: how often SQLite asked whether to go on.
fn work(messages: i64) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let mut database = database(&folder);
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                INSERT INTO message_usage SELECT id, 'copied' || i, 'gpt-5', 0, 10, 5, NULL, NULL, NULL, NULL, NULL, NULL, 0
                FROM n, sessions WHERE id < 3";
    database.connection().execute(fill, [messages]).unwrap();
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    let count = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    };
    database.stop_when(Duration::MAX, Box::new(count)).unwrap();
    assert_eq!(database.sessions(&SessionFilter::default(), SessionOrder::Cost).unwrap().len(), 3);
    asked.load(Ordering::Relaxed)
}

#[test]
fn costs_are_found_in_a_time_that_grows_with_the_messages() {
    let (some, more) = (work(1_000), work(4_000));
    assert!(some > 0 && more < some * 6, "{some} and {more}");
}
