//! The limits of an account: in logs, and outside of them.

use std::time::Duration;

use foldline::ledger::{Checkpoint, Commit, Ledger, SourceFacts};
use foldline_database::{
    Rows,
    sqlite::{DEFAULT_WAIT, Database, SqliteError},
};
use foldline_domain::*;

fn limit(name: &str, used_percent: f64, at: Option<i64>) -> Limit {
    let at = at.map(Timestamp::from_millis);
    Limit { name: name.into(), used_percent, at, ..Limit::default() }
}

/// Adds events of sessions with these numbers to a log.
fn add(database: &mut Database, line: u64, limits: &[(u32, Limit)]) {
    let place = |line| Position { line: line + 1, offset: line };
    let events = limits.iter().map(|(number, limit)| {
        let (agent, limits) = (Some("codex".into()), Some(vec![limit.clone()]));
        let facts = Session { agent, limits, ..Session::default() };
        let session = SessionKey(*number);
        Located { session, ..Located::new(place(line), DomainEvent::Session(Box::new(facts))) }
    });
    let output: Rows = events.collect::<Vec<_>>().iter().collect();
    let facts = SourceFacts { path: "log".into(), format: "droid".into(), ..Default::default() };
    let (position, state) = (place(line + 1), Json::default());
    let checkpoint = Checkpoint { facts, position, state, complete: false };
    let expected = (line > 0).then(|| place(line));
    let commit = Commit { source: "log".into(), expected, checkpoint, output };
    database.commit(&[commit], &[]).unwrap();
}

fn told(limits: &[Limit]) -> Vec<(String, f64)> {
    limits.iter().map(|limit| (limit.name.to_string(), limit.used_percent)).collect()
}

#[test]
fn the_latest_of_each_limit_is_kept_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    let whole = Limit {
        window_minutes: Some(300),
        resets_at: Some(Timestamp::from_millis(i64::MAX)),
        ..limit("b", 1e300, Some(5))
    };
    add(&mut database, 0, &[(0, limit("b", 1.0, None)), (0, limit("a", -0.0, None))]);
    add(&mut database, 1, &[(0, whole.clone()), (1, limit("b", 3.0, Some(4)))]);
    // Older statements, which a log may repeat.
    add(&mut database, 2, &[(0, limit("b", 4.0, None)), (0, limit("b", 5.0, Some(4)))]);
    let stored: &dyn foldline_database::Store = &database;
    let session = stored.session(1).unwrap();
    assert_eq!(session.limits, Some(vec![limit("a", 0.0, None), whole.clone()]));
    assert_eq!(
        stored.session(2).unwrap().limits.as_deref().map(told),
        Some(vec![("b".into(), 3.0)])
    );
    assert_eq!(stored.limits("COD").unwrap(), [limit("a", 0.0, None), whole]);
    assert_eq!(stored.limits("claude").unwrap(), []);
    assert_eq!(database.check().unwrap(), []);
    // Another agent, which states them outside of its log.
    database
        .set_limits("claude-code", &[limit("x", -0.0, Some(1)), limit("x", f64::NAN, Some(2))])
        .unwrap();
    database
        .set_limits("claude-code", &[limit("x", 2.0, Some(3)), limit("y", 3.0, Some(3))])
        .unwrap();
    database.set_limits("claude-code", &[limit("x", 4.0, Some(2))]).unwrap();
    let stored: &dyn foldline_database::Store = &database;
    let [x, y] = [("x".to_owned(), 2.0), ("y".to_owned(), 3.0)];
    assert_eq!(told(&stored.limits("claude-code").unwrap()), [x, y]);
    assert_eq!(stored.limits("codex").unwrap().len(), 2);
    assert_eq!(database.check().unwrap(), []);
}

#[test]
fn what_is_known_is_not_written_again_and_a_busy_database_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut database = Database::open(&path, Duration::ZERO).unwrap();
    database.set_limits("claude-code", &[limit("x", 1.0, Some(0))]).unwrap();
    let other = Database::open(&path, Duration::ZERO).unwrap();
    other.connection().execute_batch("BEGIN IMMEDIATE").unwrap();
    database.set_limits("claude-code", &[limit("x", 1.0, Some(59_999))]).unwrap();
    let news = [limit("x", 1.0, Some(60_000))];
    let busy = database.set_limits("claude-code", &news);
    assert!(matches!(busy, Err(SqliteError::Locked(_))), "{busy:?}");
    other.connection().execute_batch("ROLLBACK").unwrap();
    database.set_limits("claude-code", &news).unwrap();
    let stored: &dyn foldline_database::Store = &database;
    assert_eq!(stored.limits("claude-code").unwrap(), news);
}
