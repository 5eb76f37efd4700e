//! The rows of a database, inserted by nothing but SQLite.

use std::path::Path;

use foldline_database::sqlite::{DEFAULT_WAIT, Database};
use rusqlite::{Connection, types::Value};

/// The tables that an ingest fills, besides the search index.
const TABLES: [&str; 7] =
    ["sources", "sessions", "entries", "tool_calls", "tool_paths", "message_usage", "warnings"];

/// The rows of a table.
pub(crate) struct Rows {
    table: &'static str,
    columns: usize,
    rows: Vec<Vec<Value>>,
}

/// The rows of a database.
pub(crate) fn rows(db: &Path) -> Vec<Rows> {
    let connection = Connection::open(db).unwrap();
    let rows = |table| {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let rows = statement
            .query_map([], |row| (0..columns).map(|column| row.get(column)).collect())
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        Rows { table, columns, rows }
    };
    TABLES.map(rows).into()
}

/// Inserts the rows into the same tables, indices and search index, as durably as an ingest: with its settings, in as
/// many transactions.
pub(crate) fn insert(db: &Path, tables: &[Rows], transactions: usize) {
    remove(db);
    drop(Database::open(db, DEFAULT_WAIT).unwrap());
    let mut connection = Connection::open(db).unwrap();
    connection
        .execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;
             PRAGMA wal_autocheckpoint = 4096; PRAGMA foreign_keys = OFF",
        )
        .unwrap();
    for part in 0..transactions {
        let transaction = connection.transaction().unwrap();
        for Rows { table, columns, rows } in tables {
            let places = vec!["?"; *columns].join(", ");
            let mut insert =
                transaction.prepare(&format!("INSERT INTO {table} VALUES ({places})")).unwrap();
            let mut search = transaction
                .prepare("INSERT INTO search (rowid, content, output) VALUES (?1, ?2, ?3)")
                .unwrap();
            let range = rows.len() * part / transactions..rows.len() * (part + 1) / transactions;
            for row in &rows[range] {
                insert.execute(rusqlite::params_from_iter(row)).unwrap();
                if let ("entries", [id, .., content, output, _]) = (*table, row.as_slice()) {
                    search.execute([id, content, output]).unwrap();
                }
            }
        }
        transaction.commit().unwrap();
    }
}

/// Removes a database.
pub(crate) fn remove(db: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", db.display()));
    }
}
