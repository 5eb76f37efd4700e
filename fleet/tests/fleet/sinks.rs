//! Databases of sinks that were killed, paused, or too late.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use rdkafka::Offset;
use rustix::process::Signal;
use tempfile::TempDir;

use super::{Cluster, Running, Sender, Topics, WAIT, command};
use crate::logs;

/// A topic of events with one worker, and a folder for databases.
pub(super) struct Stored {
    pub(super) cluster: Cluster,
    pub(super) topics: Topics,
    folder: TempDir,
}

impl Stored {
    pub(super) fn start(prefix: &str) -> Self {
        let cluster = Cluster::start(1);
        let topics = Topics::make(&cluster.addresses, prefix, 1, 1);
        Self { cluster, topics, folder: tempfile::tempdir().unwrap() }
    }

    pub(super) fn db(&self) -> PathBuf {
        self.folder.path().join("fleet.db")
    }

    pub(super) fn sender(&self, source: &str) -> Sender<'_> {
        let (source, format) = (source.to_owned(), "droid".to_owned());
        Sender { topics: &self.topics, producer: self.topics.producer(), source, format }
    }

    pub(super) fn work(&self) -> Running {
        Running::start(&self.cluster, &self.topics, &["work"])
    }

    /// A sink that runs until it is stopped, whose messages can be read.
    pub(super) fn sink(&self) -> Running {
        let db = self.db();
        let arguments = ["sink", "--db", db.to_str().unwrap()];
        let mut sink = command(&self.cluster, &self.topics, &arguments);
        Running(sink.stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Runs a sink until it has stored everything.
    pub(super) fn store(&self) -> (Output, String) {
        let db = self.db();
        let arguments = ["sink", "--once", "--db", db.to_str().unwrap()];
        let output =
            command(&self.cluster, &self.topics, &arguments).stderr(Stdio::piped()).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output, said)
    }

    /// The answer of `status`.
    pub(super) fn status(&self, arguments: &[&str]) -> serde_json::Value {
        let arguments = [&["status", "--format", "json"], arguments].concat();
        let output =
            command(&self.cluster, &self.topics, &arguments).stdout(Stdio::piped()).output();
        serde_json::from_slice(&output.unwrap().stdout).unwrap()
    }

    /// Runs a verb that succeeds.
    pub(super) fn run(&self, arguments: &[&str]) {
        let output =
            command(&self.cluster, &self.topics, arguments).stderr(Stdio::piped()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Waits until a source is folded up to this byte.
    pub(super) fn await_events(&self, source: &str, offset: usize) {
        let begun = Instant::now();
        while self.topics.folded_to(source) != Some(offset as u64) {
            assert!(begun.elapsed() < WAIT, "{source} is not folded to {offset}");
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until the database answers a question with this number.
    pub(super) fn await_number(&self, sql: &str, number: i64) {
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
pub(super) fn ask(db: &Path, sql: &str) -> Option<i64> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = rusqlite::Connection::open_with_flags(db, flags).ok()?;
    connection.query_row(sql, [], |row| row.get(0)).ok()
}

/// The ends of the lines.
fn ends(content: &[u8]) -> Vec<usize> {
    content.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect()
}

/// The entries that a single machine stores of this log.
pub(super) fn ingested(content: &[u8]) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let [log, db] = ["log.jsonl", "one.db"].map(|name| folder.path().join(name));
    fs::write(&log, content).unwrap();
    logs::stdout(&["ingest", "--final", "--db", db.to_str().unwrap(), log.to_str().unwrap()]);
    entries(&db, "%")
}

/// The types and texts of the entries of a source, in their order.
pub(super) fn entries(db: &Path, source: &str) -> Vec<(String, String)> {
    let connection = rusqlite::Connection::open(db).unwrap();
    let sql = "SELECT type, content || coalesce(output, '') FROM entries JOIN sessions
               ON sessions.id = entries.session JOIN sources ON sources.id = source
               WHERE name LIKE ?1 ORDER BY sessions.id, idx";
    let mut entries = connection.prepare(sql).unwrap();
    let entry = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    entries.query_map([source], entry).unwrap().map(Result::unwrap).collect()
}

/// Waits until a program has ended by itself; returns its exit code and its messages.
pub(super) fn ended(mut program: Running) -> (Option<i32>, String) {
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
    // It has reported its offsets to the brokers.
    let sinks = stored.status(&[])["sinks"].clone();
    assert_eq!((&sinks[0]["group"], &sinks[0]["lag"]), (&"rotated.sink".into(), &0.into()));
    // A run that adds nothing states what the database has.
    let (_, said) = stored.store();
    let count = ask(&stored.db(), "SELECT count(*) FROM entries").unwrap();
    let total = format!("which has {count} entries of 1 session");
    assert!(count > 0 && said.contains("0 entries") && said.contains(&total), "{said}");
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
    assert!(entries(&stored.db(), "source") == ingested(&content));
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn events_that_were_deleted_before_they_were_stored_are_recorded() {
    let stored = Stored::start("unread");
    let content = logs::droid("a-session", 5, 1).into_bytes();
    let sender = stored.sender("source");
    sender.send(&content, 0, 0, content.len(), 1 << 16);
    sender.end(0, content.len());
    sender.flush();
    let _worker = stored.work();
    stored.topics.await_complete(1);
    stored.topics.delete_before("events", 0, Offset::End);
    let (_, end) = stored.topics.ends("events", 0);
    let range = format!("the messages from offset 0 to {} were deleted", end - 1);
    let (output, said) = stored.store();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("partition 0") && said.contains(&range), "{said}");
    let (output, said) = stored.store();
    assert!(output.status.success() && said.contains("an earlier run"), "{said}");
    let db = stored.db();
    let status = stored.status(&["--db", db.to_str().unwrap()]);
    let deleted = serde_json::json!([{"partition": 0, "from": 0, "to": end}]);
    assert_eq!(status["sink"]["deleted"], deleted, "{status}");
    assert_eq!(status["sink"]["partitions"][0]["stored_to"], end, "{status}");
}

/// The end of a transaction is an offset, but not an event.
#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn events_that_are_deleted_after_they_were_stored_are_not_missing() {
    let stored = Stored::start("read");
    let content = logs::droid("a-session", 5, 1).into_bytes();
    let _worker = stored.work();
    for (number, source) in (1..).zip(["stored at once", "stored later"]) {
        let sender = stored.sender(source);
        let sink = (source == "stored later").then(|| stored.sink());
        sender.send(&content, 0, 0, content.len(), 1 << 16);
        sender.end(0, content.len());
        sender.flush();
        stored.topics.await_complete(number);
        match sink {
            None => assert!(stored.store().0.status.success()),
            Some(sink) => {
                let mark =
                    "SELECT CAST(state AS INTEGER) FROM outputs WHERE name LIKE '%.events/0'";
                stored.await_number(mark, stored.topics.ends("events", 0).1);
                sink.kill();
            }
        }
        stored.topics.delete_before("events", 0, Offset::End);
        let (output, said) = stored.store();
        assert!(output.status.success() && !said.contains("deleted"), "{source}: {said}");
    }
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn pieces_that_were_deleted_before_they_were_folded_are_recorded() {
    let stored = Stored::start("unfolded");
    let content = logs::droid("a-session", 5, 1).into_bytes();
    let sender = stored.sender("source");
    sender.send(&content, 0, 0, content.len(), 1 << 16);
    sender.flush();
    stored.topics.delete_before("logs", 0, Offset::End);
    let (_, end) = stored.topics.ends("logs", 0);
    let deleted = serde_json::json!([{"partition": 0, "from": 0, "to": end}]);
    let mut work = command(&stored.cluster, &stored.topics, &["work"]);
    let worker = Running(work.stderr(Stdio::piped()).spawn().unwrap());
    // Another source is folded.
    let other = stored.sender("other");
    other.send(&content, 0, 0, content.len(), 1 << 16);
    other.end(0, content.len());
    other.flush();
    stored.topics.await_complete(1);
    assert_eq!(stored.status(&[])["deleted"], deleted);
    worker.signal(Signal::TERM);
    let (code, said) = ended(worker);
    assert_eq!(code, Some(1), "{said}");
    let range = format!("the messages from offset 0 to {} were deleted", end - 1);
    assert!(said.contains("partition 0") && said.contains(&range), "{said}");
    // Another worker neither finds nor forgets it.
    stored.work().stop();
    assert_eq!(stored.status(&[])["deleted"], deleted);
}
