//! What opening a database permits.

use std::{fs, path::PathBuf};

use foldline_database::sqlite::{DEFAULT_WAIT, Database};

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    (folder, path)
}

#[cfg(unix)]
#[test]
fn a_new_database_is_for_its_owner_only() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, path) = folder();
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    let database = Database::open(&link, DEFAULT_WAIT).unwrap();
    database.connection().execute_batch("INSERT INTO outputs VALUES ('a', '{}', 0, 0)").unwrap();
    let mode =
        |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["db", "db-wal", "db-shm"].map(mode), [0o600; 3]);
    drop(database);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let _database = Database::open(&path, DEFAULT_WAIT).unwrap();
    assert_eq!(["db", "db-wal", "db-shm"].map(mode), [0o640; 3]);
}

#[test]
fn the_schema_of_a_database_is_not_trusted() {
    let (_folder, path) = folder();
    drop(Database::open(&path, DEFAULT_WAIT).unwrap());
    let planted = "CREATE VIEW planted AS SELECT * FROM pragma_table_list";
    rusqlite::Connection::open(&path).unwrap().execute_batch(planted).unwrap();
    let open: [fn(&_, _) -> _; 2] = [Database::open, Database::open_read_only];
    for open in open {
        let database = open(&path, DEFAULT_WAIT).unwrap();
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            database.connection().query_row(&sql, [], |row| row.get::<_, i64>(0))
        };
        assert!(count("pragma_table_list").unwrap() > 10);
        let error = count("planted").unwrap_err().to_string();
        assert!(error.contains("unsafe use of virtual table"), "{error}");
    }
    let database = Database::open(&path, DEFAULT_WAIT).unwrap();
    let error = database.connection().execute_batch("DELETE FROM search_data").unwrap_err();
    assert!(error.to_string().contains("may not be modified"), "{error}");
}

#[test]
fn a_path_is_a_file_whatever_it_is_called() {
    let (folder, path) = folder();
    for name in [":memory:", "file:x?mode=memory"] {
        let path = path.with_file_name(name);
        drop(Database::open(&path, DEFAULT_WAIT).unwrap());
        assert!(fs::metadata(&path).unwrap().len() > 0, "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}
