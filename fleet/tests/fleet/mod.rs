//! A fleet stores the same data as a single machine.

mod faults;
mod growing;
mod held;
mod interface;
mod monitoring;
mod outage;
mod outcome;
mod packaging;
mod postgres;
mod sinks;
mod states;
mod topics;
mod trail;

use std::{
    collections::BTreeSet,
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use self::{
    sinks::ask,
    topics::{Sender, Topics, WAIT},
};
use crate::{broker::Cluster, foldline_fleet, logs};

/// A program of the fleet, killed when it is dropped.
struct Running(Child);

impl Running {
    fn start(cluster: &Cluster, topics: &Topics, arguments: &[&str]) -> Self {
        Self(command(cluster, topics, arguments).spawn().unwrap())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Asks the program to end, and waits.
    fn stop(mut self) {
        self.signal(Signal::TERM);
        let status = self.0.wait().unwrap();
        // A program that has just started does not handle signals yet.
        assert!(status.success() || status.signal() == Some(Signal::TERM.as_raw()), "{status}");
    }

    /// Asks the program to end, and waits, whatever its exit code: it may have found messages that it cannot use.
    fn end(mut self) {
        self.signal(Signal::TERM);
        self.0.wait().unwrap();
    }

    /// All its messages until it ends.
    fn said(mut self) -> String {
        let mut said = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
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
    let mut command = foldline_fleet();
    command.args(arguments).args(["--brokers", &cluster.addresses, "--prefix", &topics.prefix]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// A log, as read by a single machine.
struct Log {
    path: String,
    format: String,
    content: Vec<u8>,
}

/// Reads logs of all formats into a database: the logs of the repository, and those in the folder FOLDLINE_CAPTURES.
fn ingest(db: &Path, trail: &Path) -> Vec<Log> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let fixtures = root.join("tests/fixtures").to_str().unwrap().to_owned();
    let captures = std::env::var("FOLDLINE_CAPTURES").ok();
    let (name, trail) = (db.to_str().unwrap(), trail.to_str().unwrap());
    let mut arguments = vec!["ingest", "--final", "--db", name, "--audit", trail, &fixtures];
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

/// The content of a database, without data that is only known on the machine that has the files.
fn said(db: &Path) -> String {
    logs::dump_with(
        db,
        "SELECT name, format, read_length, line, offset, complete FROM sources ORDER BY name",
    )
}

/// The events of a log, from a single machine.
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
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_fleet_stores_what_one_machine_stores() {
    let cluster = Cluster::start(1);
    let folder = tempfile::tempdir().unwrap();
    let [one, fleet] = ["one.db", "fleet.db"].map(|name| folder.path().join(name));
    let trails = ["one.trail", "fleet.trail"].map(|name| folder.path().join(name));
    let logs = ingest(&one, &trails[0]);
    let topics = Topics::make(&cluster.addresses, "same", 4, 1);
    let workers = [(); 2].map(|()| Running::start(&cluster, &topics, &["work", "--patches"]));
    let producer = topics.producer();
    for log in &logs {
        let (source, format, producer) = (log.path.clone(), log.format.clone(), producer.clone());
        let sender = Sender { topics: &topics, producer, source, format };
        let length = log.content.len();
        // The same data again, cut at other positions, as after a crash; lines in parts.
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
    interface::assert_valid(&topics);
    for _ in 0..2 {
        let [db, trail] = [&fleet, &trails[1]].map(|path| path.to_str().unwrap());
        let arguments = ["sink", "--once", "--db", db, "--audit", trail];
        assert!(command(&cluster, &topics, &arguments).status().unwrap().success());
        assert_eq!(said(&fleet), said(&one));
    }
    assert_eq!(trail::records(&trails[1], &fleet), trail::records(&trails[0], &one));
}

/// The response of a program at its address; empty if there is none yet.
fn get(address: &str, path: &str) -> String {
    let Ok(mut connection) = TcpStream::connect(address) else { return String::new() };
    let mut answer = String::new();
    let asked = write!(connection, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
    asked
        .and_then(|()| connection.read_to_string(&mut answer))
        .map_or_else(|_| String::new(), |_| answer)
}

/// Waits until a metric of a worker reaches a value.
fn await_figure(address: &str, name: &str, least: f64) {
    let begun = Instant::now();
    loop {
        let answer = get(address, "/metrics");
        let value =
            answer.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        if value.is_some_and(|value| value >= least) {
            return;
        }
        assert!(begun.elapsed() < WAIT, "{name} does not reach {least}: {answer}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// An address without a listener.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Waits until this number of sources is reported as not folded; returns the reasons.
fn await_unfolded(cluster: &Cluster, topics: &Topics, count: usize) -> Vec<(String, String)> {
    let begun = Instant::now();
    loop {
        let output = command(cluster, topics, &["status", "--format", "json"])
            .stdout(Stdio::piped())
            .output();
        let status: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
        let text = |gap: &serde_json::Value, name: &str| gap[name].as_str().unwrap().to_owned();
        let gaps = status["gaps"].as_array().unwrap();
        if gaps.len() == count {
            return gaps.iter().map(|gap| (text(gap, "source"), text(gap, "note"))).collect();
        }
        assert!(begun.elapsed() < WAIT, "{status}");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn what_is_missing_is_told_and_never_folded_over() {
    let cluster = Cluster::start(1);
    let topics = Topics::make(&cluster.addresses, "gap", 1, 1);
    let content = logs::droid("a-session", 20, 1).into_bytes();
    let (source, format) = ("source".to_owned(), "droid".to_owned());
    let sender = Sender { topics: &topics, producer: topics.producer(), source, format };
    let ends: Vec<_> =
        content.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    let (known, length) = (ends[10], content.len());
    sender.send(&content, 0, 0, known, 1 << 16);
    sender.send(&content, 0, ends[11], length, 1 << 16);
    sender.end(0, length);
    // A foreign message.
    sender.message(b"x", "no position", None, false);
    sender.flush();
    let address = free_address();
    let worker = Running::start(&cluster, &topics, &["work", "--metrics", &address]);
    await_figure(&address, "foldline_fleet_foreign_total", 1.0);
    await_figure(&address, "foldline_fleet_gaps_total", (ends.len() - 11) as f64);
    let lines = replayed_bytes(&content[..known]);
    assert!(lines.starts_with(&topics.events("events")["source"]), "only what is there is folded");
    let unfolded = await_unfolded(&cluster, &topics, 1);
    let note = format!("bytes from 0:{known} to 0:{} are missing", ends[11]);
    assert!(unfolded[0].0 == "source" && unfolded[0].1.starts_with(&note), "{unfolded:?}");
    // Another worker knows the gap, too.
    worker.stop();
    let worker = Running::start(&cluster, &topics, &["work"]);
    // It is shipped again, from before the gap.
    sender.send(&content, 0, ends[5], length, 1 << 16);
    sender.end(0, length);
    sender.flush();
    topics.await_complete(1);
    await_unfolded(&cluster, &topics, 0);
    worker.stop();
    assert!(topics.events("events")["source"] == replayed_bytes(&content));
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_log_goes_on_in_another_file_only_where_the_one_before_has_ended() {
    let cluster = Cluster::start(1);
    let topics = Topics::make(&cluster.addresses, "files", 1, 1);
    let content = logs::droid("a-session", 20, 1).into_bytes();
    let (source, format) = ("source".to_owned(), "droid".to_owned());
    let sender = Sender { topics: &topics, producer: topics.producer(), source, format };
    let most = content.len() / 2;
    let half = content[..most].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let line = content[..half - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    sender.send(&content, 0, 0, line, 1 << 16);
    // The last line of the first file is missing.
    let before = Some(half as u64);
    sender.message(&content[half..], "1:0", before, false);
    sender.flush();
    let address = free_address();
    let worker = Running::start(&cluster, &topics, &["work", "--metrics", &address]);
    await_figure(&address, "foldline_fleet_gaps_total", 1.0);
    sender.send(&content, 0, line, half, 1 << 16);
    sender.message(&content[half..], "1:0", before, false);
    sender.end(1, content.len() - half);
    sender.flush();
    topics.await_complete(1);
    worker.stop();
    // Like `replay --follow` with a rotated log: positions restart.
    let items = |events: &[u8]| -> Vec<serde_json::Value> {
        let events = events.split(|byte| *byte == b'\n').filter(|event| !event.is_empty());
        let item =
            |event| serde_json::from_slice::<serde_json::Value>(event).unwrap()["data"].take();
        events.map(item).collect()
    };
    assert_eq!(items(&topics.events("events")["source"]), items(&replayed_bytes(&content)));
}

fn replayed_bytes(content: &[u8]) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), content).unwrap();
    let path = file.path().to_str().unwrap();
    logs::run(&["replay", "--format", "events", "--executor", "droid", path]).stdout
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_line_in_parts_is_read_again_by_the_next_owner() {
    let cluster = Cluster::start(1);
    let topics = Topics::make(&cluster.addresses, "parts", 1, 1);
    let content = logs::droid("a-session", 3, 1).into_bytes();
    let (source, format) = ("source".to_owned(), "droid".to_owned());
    let sender = Sender { topics: &topics, producer: topics.producer(), source, format };
    let first = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    // Up to the middle of the second line; the other source's lines are committed after it.
    sender.send(&content, 0, 0, first + 50, 20);
    let other = Sender {
        source: "other".to_owned(),
        format: "droid".to_owned(),
        producer: sender.producer.clone(),
        ..sender
    };
    other.send(&content, 0, 0, content.len(), 1 << 16);
    other.end(0, content.len());
    other.flush();
    let worker = Running::start(&cluster, &topics, &["work", "-X", "session.timeout.ms=2000"]);
    topics.await_complete(1);
    worker.kill();
    let worker = Running::start(&cluster, &topics, &["work", "-X", "session.timeout.ms=2000"]);
    let sender = Sender { source: "source".to_owned(), format: "droid".to_owned(), ..other };
    sender.send(&content, 0, first + 50, content.len(), 20);
    sender.end(0, content.len());
    sender.flush();
    topics.await_complete(2);
    worker.stop();
    let events = topics.events("events");
    assert!(events["source"] == replayed_bytes(&content) && events["other"] == events["source"]);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_format_that_a_worker_does_not_know_is_told_and_holds_nobody_up() {
    let cluster = Cluster::start(1);
    let topics = Topics::make(&cluster.addresses, "unknown", 1, 1);
    let (source, format) = ("source".to_owned(), "tomorrow".to_owned());
    let unknown = Sender { topics: &topics, producer: topics.producer(), source, format };
    unknown.send(b"{}\n{}\n", 0, 0, 6, 100);
    let (source, format) = ("other".to_owned(), "droid".to_owned());
    let known = Sender { source, format, producer: unknown.producer.clone(), ..unknown };
    let content = logs::droid("a-session", 3, 1).into_bytes();
    known.send(&content, 0, 0, content.len(), 1 << 16);
    known.end(0, content.len());
    known.flush();
    let address = free_address();
    let mut work = command(&cluster, &topics, &["work", "--metrics", &address]);
    let worker = Running(work.stderr(Stdio::piped()).spawn().unwrap());
    topics.await_complete(1);
    await_figure(&address, "foldline_fleet_gaps_total", 2.0);
    worker.signal(Signal::TERM);
    let error = worker.said();
    assert_eq!(error.matches("\"tomorrow\"").count(), 1, "{error}");
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn sessions_of_a_fleet_are_served_while_they_grow() {
    let cluster = Cluster::start(1);
    let topics = Topics::make(&cluster.addresses, "served", 2, 1);
    let (folder, address) = (tempfile::tempdir().unwrap(), free_address());
    let db = folder.path().join("fleet.db");
    let _sink = Running::start(&cluster, &topics, &["sink", "--db", db.to_str().unwrap()]);
    let begun = Instant::now();
    while !db.exists() {
        assert!(begun.elapsed() < WAIT, "the sink makes no database");
        thread::sleep(Duration::from_millis(50));
    }
    // A separate program, which finds no logs on this machine.
    let mut serve = logs::foldline();
    serve.args(["serve", "--db", db.to_str().unwrap(), "--listen", &address]);
    let _server = Running(serve.spawn().unwrap());
    let _worker = Running::start(&cluster, &topics, &["work"]);
    let await_answer = |path: &str, part: &str| {
        let begun = Instant::now();
        loop {
            let answer = get(&address, path);
            if answer.contains(part) {
                return;
            }
            assert!(begun.elapsed() < WAIT, "{path} does not say {part}: {answer}");
            thread::sleep(Duration::from_millis(50));
        }
    };
    let content = logs::droid("a-session", 10, 1).into_bytes();
    let (source, format) = ("source".to_owned(), "droid".to_owned());
    let sender = Sender { topics: &topics, producer: topics.producer(), source, format };
    let most = content.len() / 2;
    let half = content[..most].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    sender.send(&content, 0, 0, half, 1 << 16);
    sender.flush();
    await_answer("/api/sessions", "a-session");
    await_answer("/api/sessions/a-session", "Please look at problem 0");
    assert!(!get(&address, "/api/sessions/a-session").contains("All done."));
    sender.send(&content, 0, half, content.len(), 1 << 16);
    sender.end(0, content.len());
    sender.flush();
    await_answer("/api/sessions/a-session", "Done with 9");
}
