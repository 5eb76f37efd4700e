//! PostgreSQL as the database of several sinks.

use std::{
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use postgres::{Client, NoTls};
use rustix::process::Signal;

use super::{
    Cluster, Running, Sender, Topics, WAIT, command,
    sinks::{ended, entries},
};
use crate::{logs, postgres_server::Server};

const PARTITIONS: i32 = 4;

struct Store {
    cluster: Cluster,
    topics: Topics,
    address: String,
}

impl Store {
    fn start(prefix: &str) -> Self {
        let cluster = Cluster::start(1);
        let topics = Topics::make(&cluster.addresses, prefix, PARTITIONS, 1);
        Self { cluster, topics, address: Server::get().database() }
    }

    fn sink(&self, partitions: &str) -> Running {
        let arguments = ["sink", "--partitions", partitions, "--db", &self.address];
        let mut sink = command(&self.cluster, &self.topics, &arguments);
        Running(sink.stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Stores everything that is there.
    fn store(&self, db: &str) -> String {
        let arguments = ["sink", "--once", "--db", db];
        let output =
            command(&self.cluster, &self.topics, &arguments).stderr(Stdio::piped()).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    }

    fn send(&self, source: &str, content: &[u8]) {
        let (source, format) = (source.to_owned(), "droid".to_owned());
        let sender =
            Sender { topics: &self.topics, producer: self.topics.producer(), source, format };
        sender.send(content, 0, 0, content.len(), 1 << 12);
        sender.end(0, content.len());
        sender.flush();
    }

    fn client(&self) -> Client {
        Client::connect(&self.address, NoTls).unwrap()
    }

    fn await_sources(&self, number: i64) {
        let begun = Instant::now();
        let sql = "SELECT count(*) FROM foldline.sources WHERE complete";
        loop {
            let found: Option<i64> = self.client().query_one(sql, &[]).ok().map(|row| row.get(0));
            if found >= Some(number) {
                return;
            }
            assert!(begun.elapsed() < WAIT, "{found:?} sources are complete, and not {number}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The types and texts of the entries of a source, in their order.
pub(super) fn stored(address: &str, source: &str) -> Vec<(String, String)> {
    let sql = "SELECT type, content || coalesce(output, '') FROM foldline.entries
               JOIN foldline.sessions ON sessions.id = entries.session
               JOIN foldline.sources ON sources.id = source WHERE name = $1 ORDER BY sessions.id, idx";
    let rows = Client::connect(address, NoTls).unwrap().query(sql, &[&source]).unwrap();
    // NUL is another character there.
    let text = |row: &postgres::Row| row.get::<_, String>(1).replace('\u{fdd2}', "\0");
    rows.iter().map(|row| (row.get(0), text(row))).collect()
}

#[test]
#[cfg_attr(not(all(has_brokers, has_postgres)), ignore = "needs brokers and postgres")]
fn sinks_that_share_a_server_store_what_one_stores_in_a_file() {
    let store = Store::start("shared");
    let _worker = Running::start(&store.cluster, &store.topics, &["work"]);
    let (one, other) = (store.sink("0-1"), store.sink("2,3"));
    let content = |number: u64| logs::droid(&format!("session-{number}"), 12, number).into_bytes();
    for number in 0..6 {
        store.send(&format!("source {number}"), &content(number));
    }
    store.await_sources(6);
    // One is killed, and its successor loses its connections.
    one.kill();
    for number in 6..9 {
        store.send(&format!("source {number}"), &content(number));
    }
    let successor = store.sink("0-1");
    store.await_sources(7);
    Server::disconnect(&store.address);
    for number in 9..12 {
        store.send(&format!("source {number}"), &content(number));
    }
    store.await_sources(12);
    for sink in [other, successor] {
        sink.signal(Signal::TERM);
        let (code, said) = ended(sink);
        assert_eq!(code, Some(0), "{said}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.db");
    store.store(file.to_str().unwrap());
    for number in 0..12 {
        let source = format!("source {number}");
        assert!(stored(&store.address, &source) == entries(&file, &source), "{source}");
    }
    // Nothing is left to be stored, and `foldline` answers from both alike.
    assert!(store.store(&store.address).contains("0 entries"));
    for answer in ["sessions", "tools", "files", "errors"] {
        let ask = |db: &str| logs::stdout(&[answer, "--db", db, "--format", "csv"]);
        let sorted = |text: String| {
            // The number of the session is the first or the third column.
            let number = ["sessions", "errors"].iter().position(|one| *one == answer);
            let unnumbered = |line: &str| -> String {
                let columns = line.split(',').enumerate();
                let left = columns.filter(|(place, _)| Some(*place) != number.map(|at| 2 * at));
                left.map(|(_, column)| column).collect::<Vec<_>>().join(",")
            };
            let mut lines: Vec<_> = text.lines().map(unnumbered).collect();
            lines.sort_unstable();
            lines
        };
        // Two sinks number the sessions in their own order.
        let answers = [&store.address, file.to_str().unwrap()].map(|db| sorted(ask(db)));
        assert_eq!(answers[0], answers[1], "{answer}");
    }
}

/// Also by a sink that has stored a part of the log, and knows its position.
#[test]
#[cfg_attr(not(all(has_brokers, has_postgres)), ignore = "needs brokers and postgres")]
fn what_is_added_to_a_forgotten_log_is_dropped() {
    let store = Store::start("forgotten");
    let _worker = Running::start(&store.cluster, &store.topics, &["work"]);
    let sink = store.sink("0-3");
    let content = logs::droid("gone", 12, 1).into_bytes();
    let half = content.iter().take(content.len() / 2).rposition(|byte| *byte == b'\n').unwrap() + 1;
    let (source, format) = ("gone".to_owned(), "droid".to_owned());
    let sender =
        Sender { topics: &store.topics, producer: store.topics.producer(), source, format };
    sender.send(&content, 0, 0, half, 1 << 12);
    sender.flush();
    store.send("first", &logs::droid("kept", 5, 2).into_bytes());
    store.await_sources(1);
    let begun = Instant::now();
    while stored(&store.address, "gone").is_empty() {
        assert!(begun.elapsed() < WAIT, "nothing of the log is stored");
        thread::sleep(Duration::from_millis(50));
    }
    logs::stdout(&["forget", "gone", "--db", &store.address]);
    sender.send(&content, 0, half, content.len(), 1 << 12);
    sender.end(0, content.len());
    sender.flush();
    store.send("second", &logs::droid("also kept", 5, 3).into_bytes());
    store.await_sources(2);
    sink.signal(Signal::TERM);
    let (code, said) = ended(sink);
    assert_eq!(code, Some(0), "{said}");
    // Nor by its successor.
    assert!(store.store(&store.address).contains("0 entries"));
    assert_eq!(stored(&store.address, "gone"), []);
    assert!(!stored(&store.address, "second").is_empty());
}

/// A server may be restarted while a sink starts.
#[test]
#[cfg_attr(not(all(has_brokers, has_postgres)), ignore = "needs brokers and postgres")]
fn a_sink_that_loses_its_connections_while_it_starts_goes_on() {
    let store = Store::start("starting");
    let _worker = Running::start(&store.cluster, &store.topics, &["work"]);
    store.send("source", &logs::droid("one", 5, 1).into_bytes());
    let sink = store.sink("0-3");
    let begun = Instant::now();
    let mut ended_connections = 0;
    while ended_connections < 3 {
        ended_connections += Server::disconnect(&store.address);
        assert!(begun.elapsed() < WAIT, "the sink does not connect again");
    }
    store.await_sources(1);
    sink.signal(Signal::TERM);
    let (code, said) = ended(sink);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
#[cfg_attr(not(all(has_brokers, has_postgres)), ignore = "needs brokers and postgres")]
fn a_sink_beside_another_one_of_the_same_partitions_ends() {
    let store = Store::start("fenced");
    let _worker = Running::start(&store.cluster, &store.topics, &["work"]);
    let paused = store.sink("0-3");
    store.send("first", &logs::droid("one", 5, 1).into_bytes());
    store.await_sources(1);
    paused.signal(Signal::STOP);
    let other = store.sink("0-3");
    for source in ["second", "third", "fourth", "fifth"] {
        store.send(source, &logs::droid(source, 5, 2).into_bytes());
    }
    store.await_sources(5);
    paused.signal(Signal::CONT);
    let (code, said) = ended(paused);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("another sink"), "{said}");
    other.signal(Signal::TERM);
    assert_eq!(ended(other).0, Some(0));
}
