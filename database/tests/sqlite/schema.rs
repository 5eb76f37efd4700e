//! The version of a database, and the checksums of its rows.

use foldline_database::sqlite::{DEFAULT_WAIT, Database, SqliteError};
use rusqlite::Connection;

#[test]
fn a_database_of_a_later_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    drop(Database::open(&path, DEFAULT_WAIT).unwrap());
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
