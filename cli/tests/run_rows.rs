//! `foldline run --db`: the rows of a session while the agent works, and after a crash.
#![cfg(unix)]

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::logs::{Random, assert_same, droid, dump, foldline, run, said, stdout};
use tempfile::TempDir;

/// An agent that prints given lines.
struct Agent {
    folder: TempDir,
    run: Child,
    tell: ChildStdin,
}

impl Agent {
    fn start(options: &[&str]) -> Self {
        Self::of(foldline(), options)
    }

    fn of(mut command: Command, options: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        command.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::null());
        command.args(["run", "--log", "log", "--db", "db"]).args(options).args(["--", "cat"]);
        let mut run = command.spawn().unwrap();
        let tell = run.stdin.take().unwrap();
        Self { folder, run, tell }
    }

    fn print(&mut self, lines: &str) {
        self.tell.write_all(lines.as_bytes()).unwrap();
    }

    /// Waits until the database has so many entries.
    fn has_entries(&self, least: usize) {
        let begun = Instant::now();
        loop {
            let entries = "SELECT count(*) AS n FROM entries";
            let found =
                run(&["query", "sql", entries, "--db", &self.path("db"), "-f", "csv"]).stdout;
            let found = String::from_utf8(found).unwrap();
            let found = found.lines().nth(1).and_then(|n| n.parse::<usize>().ok());
            if found.is_some_and(|found| found >= least) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{found:?} entries");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn db(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn lines(log: &str) -> usize {
    log.lines().count()
}

#[test]
fn rows_come_while_the_agent_works_and_are_those_of_an_ingest() {
    let log = droid("s-1", 40, 7);
    let mut agent = Agent::start(&["--task", "t", "--audit", "audit"]);
    let mut random = Random(5);
    let mut rest = log.as_str();
    // Lines come in pieces, also in the middle of a call.
    for least in [5, 20, 40] {
        let end = rest.len() / 4 + random.below(100) as usize;
        let end = (end..).find(|end| rest.is_char_boundary(*end)).unwrap();
        agent.print(&rest[..end]);
        rest = &rest[end..];
        agent.has_entries(least);
        let sessions = stdout(&["sessions", "--db", &agent.path("db"), "-f", "csv"]);
        assert!(sessions.contains("s-1"), "{sessions}");
    }
    agent.print(rest);
    let Agent { folder, mut run, tell } = agent;
    drop(tell);
    assert_eq!(run.wait().unwrap().code(), Some(0));
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let options = ["--task", "t", "--final", "--db", &path("once"), "--audit", &path("trail")];
    stdout(&[&["ingest", &*path("log")], &options[..]].concat());
    assert_same(&dump(&folder.path().join("db")), &dump(&folder.path().join("once")), "rows");
    let records = |name: &str| {
        let said = said(&folder.path().join(name));
        said.lines()
            .filter(|line| line.contains("\"event\""))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert!(records("audit").len() > 100);
    assert_eq!(records("audit"), records("trail"));
    stdout(&["check", "--db", &path("db"), "--audit", &path("audit")]);
}

/// The answer of a server whose link is somewhere in this text.
fn asked(said: &str, page: &str) -> String {
    let address = said.split_once("http://").unwrap().1;
    let address = address.split(['/', ' ', '\n']).next().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {page} HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn each_record_is_reduced_once_for_everything_that_is_made_of_it() {
    let folder = TempDir::new().unwrap();
    let said = folder.path().join("stderr");
    let mut command = foldline();
    command.env("RUST_LOG", "foldline=debug").stderr(fs::File::create(&said).unwrap());
    let mut agent = Agent::of(command, &["--audit", "audit", "--serve", "127.0.0.1:0"]);
    let log = droid("s-1", 40, 7);
    let half = log.match_indices('\n').nth(lines(&log) / 2).unwrap().0 + 1;
    agent.print(&log[..half]);
    agent.has_entries(10);
    let page = asked(&fs::read_to_string(&said).unwrap(), "/sessions/s-1");
    assert!(page.starts_with("HTTP/1.0 200"), "{page}");
    agent.print(&log[half..]);
    let Agent { folder: _folder, mut run, tell } = agent;
    drop(tell);
    assert_eq!(run.wait().unwrap().code(), Some(0));
    let said = fs::read_to_string(&said).unwrap();
    let reduced = said.lines().filter(|line| line.contains("record reduced"));
    // The end of the log is completed twice: for the pages, and in the database.
    assert_eq!(reduced.count(), lines(&log) + 2, "{said}");
}

#[test]
fn what_a_killed_run_has_stored_is_gone_on_with() {
    for seed in 0..4 {
        let log = droid("s-1", 30, seed);
        let mut agent = Agent::start(&[]);
        let mut random = Random(seed + 1);
        let end = log.len() / 5 + random.below(log.len() as u64 / 2) as usize;
        let end = (end..).find(|end| log.is_char_boundary(*end)).unwrap();
        let (begun, rest) = log.split_at(end);
        agent.print(begun);
        agent.has_entries(1 + random.below(lines(begun) as u64 / 4) as usize);
        // More is on its way when it is killed.
        agent.print(rest);
        agent.run.kill().unwrap();
        agent.run.wait().unwrap();
        for db in ["db", "once"] {
            stdout(&["ingest", &agent.path("log"), "--db", &agent.path(db)]);
        }
        assert_same(&dump(&agent.db("db")), &dump(&agent.db("once")), "killed");
        // The same again, without any other writer.
        for db in ["db", "once"] {
            stdout(&["ingest", "--final", &agent.path("log"), "--db", &agent.path(db)]);
        }
        assert_same(&dump(&agent.db("db")), &dump(&agent.db("once")), "completed");
    }
}

#[test]
fn a_database_that_cannot_be_written_is_said_before_the_agent_begins() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("db"), "no database, as its first bytes say").unwrap();
    let mut command = foldline();
    command.current_dir(folder.path());
    let refused = command.args(["run", "--log", "log", "--db", "db", "--", "touch", "begun"]);
    assert_ne!(refused.output().unwrap().status.code(), Some(0));
    assert!(!folder.path().join("begun").exists() && !folder.path().join("log").exists());
}
