use std::path::PathBuf;

use foldline::ledger::{Checkpoint, Commit, Ledger, SourceFacts};
use foldline_database::{
    Prune, Rows,
    sqlite::{DEFAULT_WAIT, Database, SqliteError},
};
use foldline_domain::{
    DomainEvent, Json, Located, NormalizedEntry, NormalizedEntryType, Position, Session, Timestamp,
};

use rusqlite::functions::{Context, FunctionFlags};

struct Place {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Place {
    /// A database of one source with three entries.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { path: folder.path().join("db"), _folder: folder };
        let at = |line| Position { line, offset: 100 * line };
        let session = Session { session_id: Some("s".into()), ..Session::default() };
        let session = Located::new(at(1), DomainEvent::Session(Box::new(session)));
        let said = |line| {
            let text = format!("a lazy dog number {line}");
            let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, text);
            Located::new(at(line), DomainEvent::entry(entry))
        };
        let events = [session, said(2), said(3), said(4)];
        let facts = SourceFacts { path: "log".to_owned(), ..SourceFacts::default() };
        let checkpoint =
            Checkpoint { facts, position: at(5), state: Json::default(), complete: false };
        let output: Rows = events.iter().collect();
        let commit = Commit { source: "log".into(), expected: None, checkpoint, output };
        let mut database = place.open();
        database.commit(&[commit], &[]).unwrap();
        database.close().unwrap();
        place
    }

    fn open(&self) -> Database {
        Database::open(&self.path, DEFAULT_WAIT).unwrap()
    }

    /// Tampers with the database in a way that foldline never does.
    fn tamper(&self, sql: &str) {
        let connection = rusqlite::Connection::open(&self.path).unwrap();
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
        // No entry is a call.
        let none = |_: &Context<'_>| Ok(None::<String>);
        connection.create_scalar_function("call_arguments", 3, flags, none).unwrap();
        connection.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
    }

    fn findings(&self) -> Vec<(String, bool)> {
        let mut database = self.open();
        let findings = [database.check().unwrap(), database.check_search().unwrap()].concat();
        findings.into_iter().map(|finding| (finding.message, finding.is_derived)).collect()
    }
}

#[test]
fn a_sound_database_has_no_findings() {
    assert_eq!(Place::new().findings(), []);
}

/// Positions restart in the next file of a rotated log: its earlier entries are further on than its end.
#[test]
fn a_log_that_continues_in_another_file_is_sound() {
    let place = Place::new();
    let text = |line| {
        let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "more".to_owned());
        Located::new(Position { line, offset: 100 * line }, DomainEvent::entry(entry))
    };
    let at = |line| Position { line, offset: 100 * line };
    let commit = |expected, lines: &[u64], end| {
        let output: Rows =
            lines.iter().map(|line| text(*line)).collect::<Vec<_>>().iter().collect();
        let facts = SourceFacts { path: "log".to_owned(), ..SourceFacts::default() };
        let checkpoint =
            Checkpoint { facts, position: end, state: Json::default(), complete: false };
        Commit { source: "log".into(), expected: Some(expected), checkpoint, output }
    };
    // The first file ends within a segment, and then between two segments.
    for (expected, lines, end) in
        [(at(5), &[8, 0, 1][..], at(2)), (at(2), &[2, 3], at(4)), (at(4), &[], at(1))]
    {
        let mut database = place.open();
        database.commit(&[commit(expected, lines, end)], &[]).unwrap();
        drop(database);
        assert_eq!(place.findings(), []);
        Database::open_sound(&place.path, DEFAULT_WAIT).unwrap();
    }
}

/// Only the entries of the first file were pruned.
#[test]
fn entries_of_the_next_file_of_a_pruned_log_are_stored() {
    let place = Place::new();
    let at = |line| Position { line, offset: 100 * line };
    let commit = |lines: u64, end| {
        let said = |line| {
            let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "more".to_owned());
            Located::new(at(line), DomainEvent::entry(entry))
        };
        let output: Rows = (0..lines).map(said).collect::<Vec<_>>().iter().collect();
        let mut facts = SourceFacts { path: "log".to_owned(), ..SourceFacts::default() };
        facts.identity.modified = Some(Timestamp::from_millis(1));
        let checkpoint =
            Checkpoint { facts, position: end, state: Json::default(), complete: false };
        Commit { source: "log".into(), expected: Some(at(5)), checkpoint, output }
    };
    let mut database = place.open();
    database.commit(&[commit(0, at(5))], &[]).unwrap();
    assert_eq!(database.prune(Prune::Before(Timestamp::from_millis(2)), false).unwrap().entries, 3);
    // The next file is longer, and read at once.
    assert_eq!(database.commit(&[commit(7, at(7))], &[]).unwrap().entries, 7);
    drop(database);
    assert_eq!(place.findings(), []);
}

#[test]
fn what_is_derived_is_made_anew() {
    // The checksum of a row covers its totals and shows that they are restored.
    for (tampering, part) in [
        ("UPDATE sessions SET entries = 7", "says that it has 7 entries"),
        ("DELETE FROM search_docsize WHERE id = 2", "search index"),
        (
            "UPDATE search_data SET block = zeroblob(length(block)) WHERE id > 10",
            "the search index cannot be checked",
        ),
        ("DROP INDEX entries_by_place", "the index entries_by_place is missing"),
        ("DROP TRIGGER entries_deleted", "the trigger entries_deleted is missing"),
    ] {
        let place = Place::new();
        place.tamper(tampering);
        let findings = place.findings();
        assert!(findings.iter().any(|(told, _)| told.contains(part)), "{tampering}: {findings:?}");
        let mut database = place.open();
        assert_eq!(database.repair().unwrap(), [], "{tampering}");
        // Other connections are not locked out, and the schema is the current one.
        assert_eq!(place.open().totals().unwrap().entries, 3);
        database.close().unwrap();
        assert_eq!(place.findings(), [], "{tampering}");
        assert_eq!(std::fs::read_dir(place.path.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn what_is_not_derived_stays_and_is_told() {
    for (tampering, part) in [
        (
            "UPDATE entries SET line = 9 WHERE idx = 1",
            "the row of entries id 2 has a wrong checksum",
        ),
        ("UPDATE sources SET format = 'amp'", "the row of sources id 1 has a wrong checksum"),
        ("DELETE FROM entries WHERE idx = 1", "has 2 entries"),
        ("DELETE FROM sources", "refers to a missing row of sources"),
        ("UPDATE entries SET offset = 900 WHERE idx = 2", "from byte 900"),
        ("UPDATE entries SET type = 'tool_use' WHERE idx = 2", "without its details"),
        ("INSERT INTO outputs VALUES ('audit x', '{}', 5, 0)", "audit x has 5 commits"),
        ("DELETE FROM ledger", "not exactly one row"),
        ("ALTER TABLE warnings ADD COLUMN more TEXT", "the table warnings has another definition"),
    ] {
        let place = Place::new();
        place.tamper(tampering);
        let findings = place.findings();
        let told = findings.iter().find(|(told, _)| told.contains(part));
        assert!(told.is_some_and(|(_, is_derived)| !is_derived), "{tampering}: {findings:?}");
    }
    let place = Place::new();
    place.tamper("UPDATE entries SET line = 9 WHERE idx = 1; UPDATE sessions SET entries = 7");
    let mut database = place.open();
    let left = database.repair().unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(!left[0].is_derived);
}

#[test]
fn nothing_of_others_is_lost_by_a_repair() {
    let place = Place::new();
    place.tamper("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)");
    let error = place.open().repair().unwrap_err().to_string();
    assert!(error.contains("would be lost: mine"), "{error}");
    place.tamper("DROP TABLE mine");

    let reader = rusqlite::Connection::open(&place.path).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM entries").unwrap();
    let mut database = Database::open(&place.path, std::time::Duration::ZERO).unwrap();
    assert!(matches!(database.repair(), Err(SqliteError::Locked(_))));
    reader.execute_batch("ROLLBACK").unwrap();
    drop(reader);
    assert_eq!(database.repair().unwrap(), []);
}

#[test]
fn a_database_is_looked_through_unless_it_is_as_it_was_closed() {
    let place = Place::new();
    // A quick check does not detect damage that does not change the file's time.
    let time = std::fs::metadata(&place.path).unwrap().modified().unwrap();
    place.tamper("UPDATE entries SET line = 9 WHERE idx = 1");
    let error = Database::open_sound(&place.path, DEFAULT_WAIT).unwrap_err().to_string();
    assert!(error.contains("is damaged: the row of entries id 2"), "{error}");
    std::fs::File::options().write(true).open(&place.path).unwrap().set_modified(time).unwrap();
    drop(Database::open_sound(&place.path, DEFAULT_WAIT).unwrap());
    // A database without writes is not marked again.
    place.open().close().unwrap();
    assert_eq!(std::fs::metadata(&place.path).unwrap().modified().unwrap(), time);
}
