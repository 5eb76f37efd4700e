//! A random walk over events of databases and of the files that are written next to them: logs grow,
//! runs are killed, databases are set back to older copies, files are given to another database or left out.
//!
//! After each step every file must begin with its earlier contents, and each file that a successful run wrote must
//! equal the committed data of its database. `FOLDLINE_WALK` sets the number of operations, `FOLDLINE_WALK_SEED`
//! the seed of the walk.

use std::{fs, path::PathBuf, process::Stdio, thread, time::Duration};

use crate::logs::{Random, droid, foldline, run};
use rusqlite::Connection;
use tempfile::TempDir;

/// By one of these sentences a file is refused.
const REFUSALS: [&str; 8] = [
    "it is the audit trail of another database",
    "it is the audit trail of a later state of this database",
    "it is not empty, and the database has not written it",
    "it is shorter than what the database has written to it",
    "it does not begin with what the database has written to it",
    "it does not hold what the database has committed",
    "it continues after what the database wrote to it",
    "made to the database without it",
];

/// A database with the files that a run writes next to it, by number.
type Run = (usize, Option<usize>, Option<usize>);

struct Walk {
    folder: TempDir,
    random: Random,
    /// The contents of each log, and how much of it is in the file.
    logs: Vec<(String, usize)>,
    /// The last run that succeeded, unless a later event prevents it from being continued.
    sound: Option<Run>,
    /// How often runs succeeded, were refused and were killed.
    counts: [usize; 3],
}

impl Walk {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        let logs = (0..4).map(|log| (droid(&format!("s-{log}"), 40, log), 0)).collect();
        let random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        Self { folder, random, logs, sound: None, counts: [0; 3] }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn file(&self, kind: &str, number: usize) -> PathBuf {
        self.folder.path().join(format!("{kind}-{number}"))
    }

    fn arguments(&self, (db, trail, events): Run) -> Vec<String> {
        let path = |path: PathBuf| path.to_str().unwrap().to_owned();
        let mut arguments = vec!["ingest".to_owned(), path(self.folder.path().join("logs"))];
        arguments.extend(["--db".to_owned(), path(self.file("db", db))]);
        if let Some(trail) = trail {
            arguments.extend(["--audit".to_owned(), path(self.file("trail", trail))]);
        }
        if let Some(events) = events {
            arguments.push(format!("--sink=events={}", path(self.file("events", events))));
        }
        arguments
    }

    fn any_run(&mut self) -> Run {
        if let Some(sound) = self.sound.filter(|_| self.random.below(3) > 0) {
            return sound;
        }
        let [db, trail, events] = [2, 3, 3].map(|bound| self.below(bound));
        (db, Some(trail).filter(|trail| *trail < 2), Some(events).filter(|events| *events < 2))
    }

    fn step(&mut self) {
        match self.below(12) {
            0..=3 => self.grow(),
            4..=7 => {
                let run = self.any_run();
                self.ingest(run);
            }
            8 | 9 => {
                let run = self.any_run();
                self.kill(run);
            }
            10 => {
                let db = self.below(2);
                self.copy_database(("db", db), ("older", db));
            }
            _ => {
                let db = self.below(2);
                if self.file("older", db).exists() {
                    self.copy_database(("older", db), ("db", db));
                    self.sound = None;
                }
                // After a rejection, the user continues with new files.
                if self.below(2) == 0 {
                    for (kind, number) in [("trail", 0), ("trail", 1), ("events", 0), ("events", 1)]
                    {
                        let _ = fs::remove_file(self.file(kind, number));
                    }
                    for number in 0..2 {
                        self.remove_database(("db", number));
                    }
                    self.sound = None;
                }
            }
        }
    }

    fn grow(&mut self) {
        let log = self.below(self.logs.len());
        let more = 1 + self.below(4_000);
        let (text, length) = &mut self.logs[log];
        *length = (*length + more).min(text.len());
        let file = self.folder.path().join("logs").join(format!("log-{log}"));
        fs::write(file, &text.as_bytes()[..*length]).unwrap();
    }

    fn outputs(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = [("trail", 0), ("trail", 1), ("events", 0), ("events", 1)];
        files
            .map(|(kind, number)| self.file(kind, number))
            .map(|file| (file.clone(), fs::read(file).unwrap_or_default()))
            .into()
    }

    /// Nothing that a file held is gone.
    fn nothing_is_lost(&self, before: &[(PathBuf, Vec<u8>)], what: &str) {
        for (file, before) in before {
            let now = fs::read(file).unwrap_or_default();
            assert!(now.starts_with(before), "{what}: {} has lost something", file.display());
        }
    }

    fn ingest(&mut self, done: Run) {
        let before = self.outputs();
        let arguments = self.arguments(done);
        let output = run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let what = format!("{done:?}");
        self.nothing_is_lost(&before, &what);
        if output.status.success() {
            self.counts[0] += 1;
            self.sound = Some(done);
            self.written_is_committed(done);
        } else {
            self.counts[1] += 1;
            assert!(REFUSALS.iter().any(|refusal| error.contains(refusal)), "{what}: {error}");
            assert_ne!(self.sound, Some(done), "a run that could go on was refused: {error}");
        }
    }

    /// Runs until some moment. Its committed data that is not yet written is left for the next run.
    fn kill(&mut self, done: Run) {
        let before = self.outputs();
        let mut child = foldline();
        child.args(self.arguments(done)).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.spawn().unwrap();
        thread::sleep(Duration::from_millis(self.random.below(60)));
        child.kill().unwrap();
        child.wait().unwrap();
        self.counts[2] += 1;
        self.nothing_is_lost(&before, "killed");
        if self.sound != Some(done) {
            self.sound = None;
        }
    }

    /// A file of a run that succeeded holds what its database says, to its end.
    fn written_is_committed(&self, (db, trail, events): Run) {
        let database = Connection::open(self.file("db", db)).unwrap();
        let written = |file: PathBuf| {
            let path = file.canonicalize().unwrap();
            let state = "SELECT state ->> '$.written.length', state ->> '$.memory.head.hash'
                         FROM outputs WHERE state ->> '$.path' = ?1 AND commits =
                         (SELECT commits FROM ledger) ORDER BY 1 DESC";
            let found = database.query_row(state, [path.to_str().unwrap()], |row| {
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, Option<String>>(1)?))
            });
            // One that has nothing yet is not known yet.
            let (length, head) = found.unwrap_or_default();
            assert_eq!(length, fs::metadata(&path).unwrap().len(), "{}", path.display());
            let outbox = "SELECT count(*) FROM outbox JOIN outputs ON name = output
                          WHERE state ->> '$.path' = ?1 AND commits =
                          (SELECT commits FROM ledger)";
            let left: i64 =
                database.query_row(outbox, [path.to_str().unwrap()], |row| row.get(0)).unwrap();
            assert_eq!(left, 0);
            head
        };
        if let Some(file) = trail.map(|trail| self.file("trail", trail)) {
            let head = written(file.clone()).unwrap();
            let verified = run(&["verify", file.to_str().unwrap(), "--head", &head]);
            let said = String::from_utf8_lossy(&verified.stdout).into_owned();
            assert!(said.contains("the given head is the last record"), "{said}");
            let id: String =
                database.query_row("SELECT id FROM ledger", [], |row| row.get(0)).unwrap();
            assert!(said.contains(&format!("ledger: {id}")), "{said}");
        }
        if let Some(events) = events {
            written(self.file("events", events));
        }
    }

    fn copy_database(&self, from: (&str, usize), to: (&str, usize)) {
        self.remove_database(to);
        for suffix in ["", "-wal"] {
            let [from, to] =
                [from, to].map(|(kind, number)| self.file(kind, number).display().to_string());
            let (from, to) = (from + suffix, to + suffix);
            if fs::exists(&from).unwrap() {
                fs::copy(from, to).unwrap();
            }
        }
    }

    fn remove_database(&self, (kind, number): (&str, usize)) {
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(self.file(kind, number).display().to_string() + suffix);
        }
    }
}

#[test]
fn nothing_that_was_written_is_lost() {
    let steps = number("FOLDLINE_WALK", 60);
    let mut walk = Walk::new(number("FOLDLINE_WALK_SEED", 1));
    for _ in 0..steps {
        walk.step();
    }
    eprintln!("{:?} runs succeeded, were refused and were killed", walk.counts);
    assert!(walk.counts[0] > 0);
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(default)
}
