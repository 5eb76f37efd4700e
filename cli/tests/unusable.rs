//! Databases that cannot be used as they are: the problem is reported, and possible answers are given.
#![cfg(unix)]

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::logs::{droid, foldline};

/// A folder with the log `log` and the database `sub/db` of it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path("log"), droid("session", 3, 1)).unwrap();
        fs::create_dir(place.path("sub")).unwrap();
        place.says(0, foldline().args(["ingest", "log", "--db", "sub/db"]), "added");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn says(&self, code: i32, command: &mut Command, what: &str) {
        let output: Output = command.current_dir(self.0.path()).output().unwrap();
        let said = [&*output.stdout, &*output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert_eq!(output.status.code(), Some(code), "{command:?}: {said}");
        assert!(said.contains(what), "{command:?}: {said}");
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }

    /// The program where it may not write to files and folders of mode `0555`, which the superuser may.
    fn limited(&self) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_foldline"));
        if fs::metadata(self.0.path()).unwrap().uid() != 0 {
            return Command::new(program);
        }
        // Its folder may be closed to others.
        let copy = self.path("foldline");
        if !copy.exists() {
            // A child of another test could hold a copy open that this process writes, and such a file cannot
            // be executed.
            assert!(Command::new("cp").arg(program).arg(&copy).status().unwrap().success());
            self.set_mode("", 0o755);
        }
        let mut command = Command::new(copy);
        command.uid(65534).gid(65534);
        command
    }
}

/// So that the folder can be removed.
impl Drop for Place {
    fn drop(&mut self) {
        self.set_mode("sub", 0o755);
    }
}

#[test]
fn a_database_that_cannot_be_opened_is_told_why() {
    let place = Place::new();
    for command in [
        &["task", "list", "--db", "sub"][..],
        &["ingest", "log", "--db", "sub"],
        &["prune", "--older-than", "1d", "--db", "sub"],
        &["task", "set", "1", "--db", "sub"],
    ] {
        place.says(2, foldline().args(command), "sub is a directory");
    }
    let ingest = |db| ["ingest", "log", "--db", db];
    place.says(1, foldline().args(ingest("none/db")), "none/db: No such file or directory");
    place.says(1, foldline().args(ingest("log/db")), "log/db: Not a directory");
    for limit in 5..8 {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\"")]);
        shell.arg(env!("CARGO_BIN_EXE_foldline")).args(["ingest", "log", "--db", "sub/db"]);
        place.says(1, &mut shell, "Too many open files");
    }
}

#[test]
fn a_statement_without_an_answer_is_wrong_use() {
    let place = Place::new();
    for statement in ["", " ", ";", "/* nothing */", "BEGIN"] {
        let query = ["query", "--db", "sub/db", "sql", statement];
        place.says(2, foldline().args(query), "such as a SELECT");
    }
}

#[test]
fn a_database_is_read_where_nothing_can_be_written() {
    let place = Place::new();
    let query = ["sessions", "--db", "sub/db"];
    let prune = ["prune", "--older-than", "1m", "--db", "sub/db"];
    place.set_mode("sub/db", 0o444);
    place.set_mode("sub", 0o555);
    place.says(0, place.limited().args(query), "session");
    place.says(0, place.limited().args(prune).arg("--dry-run"), "would remove");
    let read_only = "sub/db: the database, or its folder, is read-only";
    place.says(1, place.limited().args(prune), read_only);
    place.says(1, place.limited().args(["task", "set", "1", "--db", "sub/db"]), read_only);
    place.says(1, place.limited().args(["ingest", "log", "--db", "sub/db"]), read_only);
    place.set_mode("sub/db", 0o000);
    place.says(1, place.limited().args(query), "sub/db: it is not readable");

    // Rows that are only in the write-ahead log are part of an answer.
    place.set_mode("sub", 0o755);
    place.set_mode("sub/db", 0o644);
    let writer = rusqlite::Connection::open(place.path("sub/db")).unwrap();
    writer.execute("UPDATE sessions SET title = 'later'", []).unwrap();
    fs::copy(place.path("sub/db"), place.path("copy")).unwrap();
    fs::copy(place.path("sub/db-wal"), place.path("copy-wal")).unwrap();
    drop(writer);
    fs::rename(place.path("copy"), place.path("sub/db")).unwrap();
    fs::rename(place.path("copy-wal"), place.path("sub/db-wal")).unwrap();
    place.set_mode("sub", 0o555);
    place.says(1, place.limited().args(query), "copy both files to another folder");
}
