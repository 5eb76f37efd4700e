//! A fleet on real brokers: what it stores is what one machine stores.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "../../tests/broker/mod.rs"]
mod broker;
#[path = "fleet/topics.rs"]
mod topics;
// The program as a child.
mod logs;

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

use broker::Cluster;
use topics::{Sender, Topics};

/// A program of the fleet, killed when it is dropped.
struct Running(Child);

impl Running {
    fn start(cluster: &Cluster, topics: &Topics, arguments: &[&str]) -> Self {
        Self(command(cluster, topics, arguments).spawn().unwrap())
    }

    /// Asks it to end, and waits.
    fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.0.wait().unwrap().success());
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(cluster: &Cluster, topics: &Topics, arguments: &[&str]) -> Command {
    let mut command = logs::foldline();
    command.args(arguments).args(["--brokers", &cluster.addresses, "--prefix", &topics.prefix]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// A log, as one machine reads it.
struct Log {
    path: String,
    format: String,
    content: Vec<u8>,
}

/// Reads logs of all formats into a database: those of the repository, and those in the folder that
/// FOLDLINE_CAPTURES names.
fn ingest(db: &Path) -> Vec<Log> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let fixtures = root.join("tests/fixtures").to_str().unwrap().to_owned();
    let captures = std::env::var("FOLDLINE_CAPTURES").ok();
    let mut arguments = vec!["ingest", "--final", "--db", db.to_str().unwrap(), &fixtures];
    arguments.extend(captures.as_deref());
    logs::run(&arguments);
    let connection = rusqlite::Connection::open(db).unwrap();
    let mut sources = connection.prepare("SELECT name, format FROM sources ORDER BY name").unwrap();
    let log = |row: &rusqlite::Row<'_>| {
        let path: String = row.get(0)?;
        let content = fs::read(&path).unwrap();
        Ok(Log { path, format: row.get(1)?, content })
    };
    let logs: Vec<Log> = sources.query_map([], log).unwrap().map(Result::unwrap).collect();
    let formats: BTreeSet<_> = logs.iter().map(|log| log.format.as_str()).collect();
    assert!(formats.len() > 10, "{formats:?}");
    logs
}

/// What a database says, without what only the machine knows that has the files.
fn said(db: &Path) -> String {
    logs::dump_with(
        db,
        "SELECT name, format, read_length, line, offset, complete FROM sources ORDER BY name",
    )
}

/// The events of a log, as one machine tells them.
fn replayed(log: &Log) -> Vec<u8> {
    let arguments = ["replay", "--format", "events", "--executor", &log.format, &log.path];
    logs::run(&arguments).stdout
}

fn assert_same_events(topics: &Topics, logs: &[Log]) {
    let events = topics.events("events");
    assert_eq!(events.len(), logs.len());
    for log in logs {
        let (told, expected) = (&events[&log.path], replayed(log));
        if *told != expected {
            let differs = told.split(|b| *b == b'\n').zip(expected.split(|b| *b == b'\n'));
            let (place, (told, expected)) = differs
                .enumerate()
                .find(|(_, (a, b))| a != b)
                .expect("one goes on where the other ends");
            let (told, expected) =
                (String::from_utf8_lossy(told), String::from_utf8_lossy(expected));
            panic!("{}, event {place}:\n{told}\n{expected}", log.path);
        }
    }
}

#[test]
fn a_fleet_stores_what_one_machine_stores() {
    let Some(cluster) = Cluster::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (one, fleet) = (folder.path().join("one.db"), folder.path().join("fleet.db"));
    let logs = ingest(&one);
    let topics = Topics::make(&cluster.addresses, "same", 4, 1);
    let workers = [(); 2].map(|()| Running::start(&cluster, &topics, &["work", "--patches"]));
    let producer = topics.producer();
    for log in &logs {
        let (source, format, producer) = (log.path.clone(), log.format.clone(), producer.clone());
        let sender = Sender { topics: &topics, producer, source, format };
        let length = log.content.len();
        // Again what was sent, cut in other places, as after a crash; lines in parts.
        sender.send(&log.content, 0, 0, length / 2, 1 << 16);
        sender.send(&log.content, 0, length / 3, length, 300);
        sender.end(0, length);
        sender.end(0, length);
        sender.flush();
    }
    topics.await_complete(logs.len());
    workers.into_iter().for_each(Running::stop);
    assert_same_events(&topics, &logs);
    assert!(topics.events("patches").values().any(|patches| !patches.is_empty()));
    for _ in 0..2 {
        let arguments = ["sink", "--once", "--db", fleet.to_str().unwrap()];
        assert!(command(&cluster, &topics, &arguments).status().unwrap().success());
        assert_eq!(said(&fleet), said(&one));
    }
}
