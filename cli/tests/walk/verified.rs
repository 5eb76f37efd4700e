//! A log is moved or rotated, and its audit trail still verifies it under its new path.

use std::{fs, path::Path};

use super::Walk;
use crate::logs::{run, stdout};

/// A trail of its own: that of the walk's database would end whenever an older database is restored.
struct Trail(tempfile::TempDir);

impl Trail {
    fn name(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn ingest(&self, logs: &[&Path]) {
        let (db, trail) = (self.name("db"), self.name("trail"));
        let logs: Vec<_> = logs.iter().map(|log| log.to_str().unwrap()).collect();
        let options = ["--executor", "droid", "--db", &db, "--audit", &trail];
        stdout(&[&["ingest"], &logs[..], &options].concat());
    }

    /// The number of entries of a log at this path.
    fn entries(&self, path: &Path) -> i64 {
        let database = rusqlite::Connection::open(self.name("db")).unwrap();
        let sql = "SELECT coalesce(sum(entries), 0) FROM sources
                   JOIN sessions ON source = sources.id WHERE path = ?1";
        database.query_row(sql, [path.to_str().unwrap()], |row| row.get(0)).unwrap()
    }

    fn verifies(&self, path: &Path, what: &str) {
        let output = run(&["verify", &self.name("trail"), "--source", path.to_str().unwrap()]);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(0), "{what} {path:?}: {said}");
    }
}

impl Walk {
    /// A log is moved.
    pub(super) fn move_and_verify(&mut self) -> String {
        self.on_a_file("move and verify", |walk, path| {
            let (trail, new) = (Trail(tempfile::tempdir().unwrap()), walk.new_path());
            trail.ingest(&[path]);
            fs::rename(path, &new).unwrap();
            trail.ingest(&[&new]);
            if trail.entries(&new) > 0 {
                trail.verifies(&new, "moved");
            }
        })
    }

    /// A log is moved, and another one takes its place.
    pub(super) fn rotate_and_verify(&mut self) -> String {
        self.on_a_file("rotate and verify", |walk, path| {
            let (trail, new) = (Trail(tempfile::tempdir().unwrap()), walk.new_path());
            trail.ingest(&[path]);
            fs::rename(path, &new).unwrap();
            let (log, rotated) = (walk.below(super::LOGS), fs::read(&new).unwrap());
            let text = walk.beginning(log);
            fs::write(path, &text).unwrap();
            trail.ingest(&[path, &new]);
            // The beginning of the other one has no records of its own.
            let first = text.split_inclusive('\n').next().unwrap_or_default();
            if rotated.starts_with(first.as_bytes()) || text.as_bytes().starts_with(&rotated) {
                return;
            }
            for log in [path, &new] {
                if trail.entries(log) > 0 {
                    trail.verifies(log, "rotated");
                }
            }
        })
    }
}
