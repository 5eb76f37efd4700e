//! The version of a database, and the checksums of its rows.

use foldline_database::sqlite::{DEFAULT_WAIT, Database, SqliteError};
use rusqlite::Connection;

/// As version 1 made it.
const VERSION_1: &str = include_str!("../../src/sqlite/schema.sql");

fn text(database: &Database, sql: &str) -> String {
    database.connection().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// The sessions of a log are numbered in their order, and text that still grows continues to grow.
#[test]
fn a_database_of_version_1_is_brought_forward_with_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let old = Database::open(&folder.path().join("other"), DEFAULT_WAIT).unwrap();
    let application: i64 =
        old.connection().pragma_query_value(None, "application_id", |row| row.get(0)).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.create_scalar_function("row_crc32", -1, Default::default(), |_| Ok(0)).unwrap();
    connection.execute_batch(VERSION_1).unwrap();
    connection.pragma_update(None, "application_id", application).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO sessions (id, source, crc32) VALUES (1, 1, 0), (2, 2, 0), (3, 1, 0);
             INSERT INTO entries (id, session, idx, type, line, offset, content, crc32)
             VALUES (7, 3, 0, 'assistant_message', 1, 0, 'hel', 0);
             INSERT INTO open_entries VALUES (1, 'text', 7);",
        )
        .unwrap();
    drop(connection);
    for _ in 0..2 {
        let database = Database::open(&path, DEFAULT_WAIT).unwrap();
        let numbers =
            "SELECT group_concat(source || ' ' || number, ', ' ORDER BY id) FROM sessions";
        assert_eq!(text(&database, numbers), "1 0, 2 0, 1 1");
        let open = "SELECT concat(session, ' ', corr_id, ' ', entry) FROM open_entries";
        assert_eq!(text(&database, open), "3 text 7");
    }
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let newer = Database::open(&path, DEFAULT_WAIT).unwrap_err();
    assert!(matches!(newer, SqliteError::Newer { found: 99, .. }), "{newer}");
}

#[test]
fn the_checksum_is_the_documented_one() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    let sql = "SELECT row_crc32(NULL, 2, 0.5, 'é', x'00ff')";
    let crc: u32 = database.connection().query_row(sql, [], |row| row.get(0)).unwrap();
    let mut bytes = b"n".to_vec();
    bytes.extend([&b"i"[..], &2_i64.to_le_bytes(), b"r", &0.5_f64.to_le_bytes()].concat());
    bytes.extend([&b"t"[..], &2_u64.to_le_bytes(), "é".as_bytes()].concat());
    bytes.extend([&b"b"[..], &2_u64.to_le_bytes(), &[0, 0xff]].concat());
    assert_eq!(crc, crc32fast::hash(&bytes));
}
