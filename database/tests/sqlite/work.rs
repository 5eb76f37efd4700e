//! What a commit writes: the words once, and nothing before it is whole.

use std::{sync::Arc, time::Duration};

use foldline::ledger::{Checkpoint, Commit, CommitError, Ledger, Mark, SourceFacts};
use foldline_database::{
    Rows,
    sqlite::{DEFAULT_WAIT, Database, SqliteError},
};
use foldline_domain::*;

/// Sessions of a commit.
const SESSIONS: u64 = 50;

fn tool() -> Arc<NormalizedEntry> {
    let action = ActionType::CommandRun { command: "ls".into(), result: None };
    let entry_type = NormalizedEntryType::ToolUse(ToolUse::new("shell", action));
    NormalizedEntry::new(entry_type, "ls").into()
}

/// A session that calls a tool, and gets a result of a call of the previous session and a result without a call.
fn session(number: u64) -> [DomainEvent; 4] {
    let session_id = Some(format!("s{number}").as_str().into());
    let update = |id: String| DomainEvent::UpdateToolCall { corr_id: id.into(), entry: tool() };
    [
        DomainEvent::Session(Box::new(Session { session_id, ..Session::default() })),
        DomainEvent::NewToolCall { corr_id: format!("c{number}").into(), entry: tool() },
        update(format!("c{}", number.wrapping_sub(1))),
        update(format!("stranger{number}")),
    ]
}

/// A session that says something, goes on to say more, and uses tokens for it.
fn talk(number: u64) -> [DomainEvent; 5] {
    let [session, call, ..] = session(number);
    let open = DomainEvent::OpenEntry {
        corr_id: "open".into(),
        entry: NormalizedEntry::new(NormalizedEntryType::AssistantMessage, "well").into(),
    };
    let usage = Box::new(TokenUsage { output_tokens: Some(1), ..TokenUsage::default() });
    let usage = DomainEvent::Usage { usage, model: None, message_id: None, timestamp: None };
    let warning = DomainEvent::warning(WarningKind::UnknownEvent, "what is this?");
    [session, call, open, usage, warning]
}

fn place(number: u64) -> Position {
    Position { line: number + 1, offset: number }
}

fn rows(number: u64, events: impl IntoIterator<Item = DomainEvent>) -> Rows {
    let located = |event| Located::new(place(number), event);
    events.into_iter().map(located).collect::<Vec<_>>().iter().collect()
}

fn commit(number: u64, output: Rows) -> Commit<Rows> {
    Commit {
        source: "log".into(),
        expected: (number > 0).then(|| place(number)),
        checkpoint: Checkpoint {
            facts: SourceFacts { path: "log".into(), format: "droid".into(), ..Default::default() },
            position: place(number + 1),
            state: Json::default(),
            complete: false,
        },
        output,
    }
}

fn blocks_of_words(database: &Database) -> i64 {
    let count = "SELECT count(*) FROM search_data";
    database.connection().query_row(count, [], |row| row.get(0)).unwrap()
}

/// The fewest: two that describe the index, and one that is written.
const BLOCKS: i64 = 3;

#[test]
fn the_search_index_is_written_once_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    let rows = rows(0, (0..SESSIONS).flat_map(talk));
    database.commit(&[commit(0, rows)], &[]).unwrap();
    assert_eq!(blocks_of_words(&database), BLOCKS);
}

#[test]
fn what_the_next_stretch_changes_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name| Database::open(&folder.path().join(name), DEFAULT_WAIT).unwrap();
    let segments = || {
        let (call, mut entry) = (CorrId::from("c0"), tool());
        Arc::make_mut(&mut entry).content = "done".into();
        let next = [
            DomainEvent::UpdateToolCall { corr_id: call, entry },
            DomainEvent::GrowEntry { corr_id: "open".into(), text: " then".into() },
            DomainEvent::CloseEntry { corr_id: "open".into(), entry: None },
            DomainEvent::GrowEntry { corr_id: "stranger".into(), text: "?".into() },
        ];
        (rows(0, talk(0)), rows(1, next))
    };
    let stored = |database: &Database| {
        let all =
            "SELECT group_concat(type || content || entries.crc32 || coalesce(status, ''), '; '),
                          (SELECT count(*) FROM open_entries),
                          (SELECT group_concat(kind || count) FROM warnings),
                          (SELECT group_concat(rowid) FROM search WHERE search MATCH 'done OR then')
                   FROM entries LEFT JOIN tool_calls ON entry = entries.id";
        let row =
            |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        database
            .connection()
            .query_row::<(String, i64, String, String), _, _>(all, [], row)
            .unwrap()
    };

    let (mut one, mut two) = (open("one"), open("two"));
    let (mut first, second) = segments();
    first.append(second);
    one.commit(&[commit(0, first)], &[]).unwrap();
    assert_eq!(blocks_of_words(&one), BLOCKS);

    let (first, second) = segments();
    two.commit(&[commit(0, first)], &[]).unwrap();
    two.commit(&[commit(1, second)], &[]).unwrap();
    assert_eq!(stored(&one), stored(&two));
}

fn number(database: &Database, sql: &str) -> i64 {
    database.connection().query_row(sql, [], |row| row.get(0)).unwrap()
}

const ENTRIES: &str = "SELECT count(*) FROM entries";

#[test]
fn what_is_written_ahead_is_visible_with_the_next_commit() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    let (mut writer, reader) = (open(), open());
    let receipt = writer.write_ahead(&[commit(0, rows(0, talk(0)))]).unwrap();
    assert_eq!((receipt.entries, receipt.calls), (2, 1));
    writer.write_ahead(&[commit(1, rows(1, talk(1)))]).unwrap();
    assert_eq!((number(&reader, ENTRIES), reader.commits().unwrap()), (0, 0));
    writer.commit(&[], &[]).unwrap();
    assert_eq!((number(&reader, ENTRIES), reader.commits().unwrap()), (4, 1));
    assert_eq!(blocks_of_words(&reader), BLOCKS);
}

#[test]
fn an_error_undoes_what_was_written_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    let (mut one, mut two) = (open(), open());
    one.write_ahead(&[commit(0, rows(0, talk(0)))]).unwrap();
    let error = one.commit(&[commit(7, rows(7, talk(7)))], &[]).unwrap_err();
    assert!(matches!(error, CommitError::Moved { .. }), "{error}");
    assert_eq!(number(&one, ENTRIES), 0);
    two.commit(&[commit(0, rows(0, talk(0)))], &[]).unwrap();
    assert_eq!(number(&one, ENTRIES), 2);
}

#[test]
fn nothing_is_removed_before_the_commit_of_what_was_written_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    database.commit(&[commit(0, rows(0, talk(0)))], &[]).unwrap();
    database.write_ahead(&[commit(1, rows(1, talk(1)))]).unwrap();
    database.forget(&"log".into()).unwrap_err();
    assert_eq!(number(&database, ENTRIES), 4);
    database.begin_replacing(&"log".into()).unwrap_err();
    assert_eq!(number(&database, ENTRIES), 2);
    database.commit(&[commit(1, rows(1, talk(1)))], &[]).unwrap();
    assert_eq!(number(&database, ENTRIES), 4);
}

#[test]
fn what_refers_to_a_row_is_removed_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    let action = ActionType::FileRead { path: "a.rs".into(), result: None };
    let entry_type = NormalizedEntryType::ToolUse(ToolUse::new("read", action));
    let entry = Arc::new(NormalizedEntry::new(entry_type, "a.rs"));
    let call = DomainEvent::NewToolCall { corr_id: "read".into(), entry: entry.clone() };
    let answer = DomainEvent::UpdateToolCall { corr_id: "read".into(), entry };
    let paths = "SELECT count(*) FROM tool_paths";
    database.commit(&[commit(0, rows(0, talk(0).into_iter().chain([call])))], &[]).unwrap();
    assert_eq!(number(&database, paths), 1);
    database.commit(&[commit(1, rows(1, [answer]))], &[]).unwrap();
    assert_eq!(number(&database, paths), 1);
    assert_eq!(number(&database, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert!(database.forget(&"log".into()).unwrap());
    for table in ["sessions", "entries", "tool_calls", "tool_paths", "open_entries", "warnings"] {
        assert_eq!(number(&database, &format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
}

/// A program that continues after a mark that another program has moved writes nothing.
#[test]
fn a_commit_begins_only_after_the_expected_marks() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Database::open(&folder.path().join("db"), Duration::ZERO).unwrap();
    let (mut one, mut other) = (open(), open());
    let mark = |state: Option<u64>| Mark { name: "input".into(), state: Json::of(&state).unwrap() };
    assert_eq!(one.begin_after(&[mark(None)]).unwrap(), None);
    let locked = other.begin_after(&[mark(None)]).unwrap_err();
    assert!(matches!(locked, SqliteError::Locked(_)), "{locked}");
    one.commit(&[commit(0, rows(0, talk(0)))], &[mark(Some(7))]).unwrap();
    for expected in [None, Some(6)] {
        let found = other.begin_after(&[mark(expected)]).unwrap();
        assert_eq!(found, Some(mark(Some(7))));
    }
    // No transaction is open.
    assert_eq!(one.begin_after(&[mark(Some(7))]).unwrap(), None);
    one.commit(&[], &[mark(Some(8))]).unwrap();
    assert_eq!(one.commits().unwrap(), 1, "a mark alone is not a commit of segments");
    assert_eq!(other.begin_after(&[mark(Some(8))]).unwrap(), None);
    // The position is compared afterwards, and an error ends the transaction.
    let moved = other.commit(&[commit(0, rows(0, talk(0)))], &[mark(Some(9))]).unwrap_err();
    assert!(matches!(moved, CommitError::Moved { .. }), "{moved}");
    assert_eq!(one.begin_after(&[mark(Some(8))]).unwrap(), None);
}
