//! Databases of sinks that were killed, paused, or too late.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use tempfile::TempDir;

use super::{Cluster, Running, Sender, Topics, WAIT, command};
use crate::logs;

/// A topic of events with one worker, and a folder for databases.
struct Stored {
    cluster: Cluster,
    topics: Topics,
    folder: TempDir,
}

impl Stored {
    fn start(prefix: &str) -> Self {
        let cluster = Cluster::start(1);
        let topics = Topics::make(&cluster.addresses, prefix, 1, 1);
        Self { cluster, topics, folder: tempfile::tempdir().unwrap() }
    }

    fn db(&self) -> PathBuf {
        self.folder.path().join("fleet.db")
    }

    fn sender(&self, source: &str) -> Sender<'_> {
        let (source, format) = (source.to_owned(), "droid".to_owned());
        Sender { topics: &self.topics, producer: self.topics.producer(), source, format }
    }

    fn work(&self) -> Running {
        Running::start(&self.cluster, &self.topics, &["work"])
    }

    /// A sink that runs until it is stopped, whose messages can be read.
    fn sink(&self) -> Running {
        let db = self.db();
        let arguments = ["sink", "--db", db.to_str().unwrap()];
        let mut sink = command(&self.cluster, &self.topics, &arguments);
        Running(sink.stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Runs a sink until it has stored everything.
    fn store(&self) -> (Output, String) {
        let db = self.db();
        let arguments = ["sink", "--once", "--db", db.to_str().unwrap()];
        let output =
            command(&self.cluster, &self.topics, &arguments).stderr(Stdio::piped()).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output, said)
    }

    /// Waits until the database answers a question with this number.
    fn await_number(&self, sql: &str, number: i64) {
        let begun = Instant::now();
        loop {
            let found = ask(&self.db(), sql);
            if found == Some(number) {
                return;
            }
            assert!(begun.elapsed() < WAIT, "{sql}: {found:?}, and not {number}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The answer of a database that may not exist yet.
fn ask(db: &Path, sql: &str) -> Option<i64> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = rusqlite::Connection::open_with_flags(db, flags).ok()?;
    connection.query_row(sql, [], |row| row.get(0)).ok()
}

/// The ends of the lines.
fn ends(content: &[u8]) -> Vec<usize> {
    content.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect()
}

/// The entries that a single machine stores of this log.
fn ingested(content: &[u8]) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let [log, db] = ["log.jsonl", "one.db"].map(|name| folder.path().join(name));
    fs::write(&log, content).unwrap();
    logs::stdout(&["ingest", "--final", "--db", db.to_str().unwrap(), log.to_str().unwrap()]);
    entries(&db)
}

/// The types and texts of all entries, in their order.
fn entries(db: &Path) -> Vec<(String, String)> {
    let connection = rusqlite::Connection::open(db).unwrap();
    let sql = "SELECT type, content || coalesce(output, '') FROM entries ORDER BY session, idx";
    let mut entries = connection.prepare(sql).unwrap();
    let entry = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    entries.query_map([], entry).unwrap().map(Result::unwrap).collect()
}

/// Waits until a program has ended by itself; returns its exit code and its messages.
fn ended(mut program: Running) -> (Option<i32>, String) {
    let begun = Instant::now();
    let status = loop {
        match program.0.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(begun.elapsed() < WAIT, "the program does not end"),
        }
        thread::sleep(Duration::from_millis(50));
    };
    (status.code(), program.said())
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_sink_that_is_killed_after_a_rotation_starts_again() {
    let stored = Stored::start("rotated");
    let content = logs::droid("a-session", 20, 1).into_bytes();
    let ends = ends(&content);
    let half = ends[ends.len() - 3];
    let sender = stored.sender("source");
    sender.send(&content, 0, 0, half, 1 << 16);
    sender.message(&content[half..], "1:0", Some(half as u64), false);
    sender.flush();
    let _worker = stored.work();
    let sink = stored.sink();
    stored.await_number("SELECT offset FROM sources", (content.len() - half) as i64);
    sink.kill();
    sender.end(1, content.len() - half);
    sender.flush();
    stored.topics.await_complete(1);
    let (output, said) = stored.store();
    assert!(output.status.success(), "{said}");
    assert_eq!(ask(&stored.db(), "SELECT complete FROM sources"), Some(1));
    logs::run(&["check", "--db", stored.db().to_str().unwrap()]);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_paused_sink_that_wakes_beside_its_replacement_ends_and_loses_nothing() {
    let stored = Stored::start("paused");
    let content = logs::droid("a-session", 30, 1).into_bytes();
    let ends = ends(&content);
    let sender = stored.sender("source");
    let part = |number: usize| match number {
        0 => 0,
        3 => content.len(),
        number => ends[ends.len() * number / 3],
    };
    let send = |number: usize| {
        sender.send(&content, 0, part(number), part(number + 1), 1 << 16);
        sender.flush();
    };
    let reached = "SELECT offset FROM sources";
    let _worker = stored.work();
    let paused = stored.sink();
    send(0);
    stored.await_number(reached, part(1) as i64);
    paused.signal(Signal::STOP);
    let other = stored.sink();
    send(1);
    stored.await_number(reached, part(2) as i64);
    other.kill();
    send(2);
    sender.end(0, content.len());
    sender.flush();
    stored.topics.await_complete(1);
    paused.signal(Signal::CONT);
    let (code, said) = ended(paused);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("another sink") && said.contains("partition 0"), "{said}");
    let (output, said) = stored.store();
    assert!(output.status.success(), "{said}");
    assert!(entries(&stored.db()) == ingested(&content));
}
