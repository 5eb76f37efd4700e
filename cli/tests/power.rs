//! Power loss: at any moment, whatever was not synced may be lost, torn, or written in another order. The
//! next run completes it, and ends as if nothing had happened.
//!
//! What the program does to its files is recorded by `strace`. From the record, every state is made that
//! the disk may be in if the power fails after some operation. In each of them the program is run
//! again. `FOLDLINE_POWER=1000` tries so many of each test, and not some dozens.
#![cfg(target_os = "linux")]

mod crash;
mod disk;
mod trace;

use std::{
    collections::HashSet,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    process::Command,
};

use crate::logs::{droid, dump, said};
use crash::Crash;
use disk::{Disk, Files, files};
use serde_json::json;

/// One run of the program after another, over logs that grow.
struct Job {
    folder: tempfile::TempDir,
    runs: Vec<Run>,
    /// The final files of the user.
    result: fn(&Path) -> Files,
}

struct Run {
    /// The logs as they are by then.
    logs: Vec<(String, String)>,
    arguments: Vec<&'static str>,
}

/// Some runs, one after the other and undisturbed.
struct Recording {
    disk: Disk,
    /// The first of them.
    first: usize,
    /// The number of operations at the end of each run, and its result.
    ends: Vec<(usize, Files)>,
}

impl Job {
    fn new(folders: &[&str], runs: Vec<Run>, result: fn(&Path) -> Files) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in folders.iter().chain(&["logs"]) {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, runs, result }
    }

    /// Puts the logs in place.
    fn prepare(&self, run: &Run) {
        let logs = self.folder.path().join("logs");
        for entry in fs::read_dir(&logs).unwrap() {
            let name = entry.unwrap().file_name();
            if !run.logs.iter().any(|(log, _)| **log == name) {
                fs::remove_file(logs.join(name)).unwrap();
            }
        }
        for (name, log) in &run.logs {
            fs::write(logs.join(name), log).unwrap();
        }
    }

    /// Puts exactly these files in place, besides the logs.
    fn restore(&self, state: &Files) {
        let folder = self.folder.path();
        for name in files(folder).keys().filter(|name| !state.contains_key(*name)) {
            fs::remove_file(folder.join(name)).unwrap();
        }
        for (name, contents) in state {
            fs::write(folder.join(name), contents).unwrap();
        }
    }

    fn result(&self) -> Files {
        (self.result)(self.folder.path())
    }

    fn finish(&self, mut command: Command, run: &Run) -> Result<(), String> {
        self.prepare(run);
        let output = command.args(&run.arguments).current_dir(self.folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(format!("{}: {said}", output.status)) }
    }

    /// Runs the program from the `first` run on.
    fn record(&self, first: usize) -> Result<Recording, String> {
        let record = tempfile::NamedTempFile::new().unwrap();
        let (mut disk, mut ends) = (Disk::of(self.folder.path()), Vec::new());
        for run in &self.runs[first..] {
            self.finish(trace::recorded(PROGRAM, record.path()), run)?;
            disk.record(&trace::read(&fs::read_to_string(record.path()).unwrap()));
            ends.push((disk.operations.len(), self.result()));
        }
        Ok(Recording { disk, first, ends })
    }

    /// The power fails at some recorded moments. `then` reports problems of the remaining files.
    fn fails(
        &self,
        recording: &Recording,
        moments: usize,
        then: &mut dyn FnMut(Crash<'_>, &Files) -> Result<(), String>,
    ) {
        let Recording { disk, ends, .. } = recording;
        let (mut tried, mut failures) = (HashSet::new(), Vec::new());
        let crashes = Vec::from_iter((0..=disk.operations.len()).flat_map(|after| {
            let losses = Crash::after(disk, after).losses(RANDOM);
            losses.into_iter().map(move |loss| (after, loss))
        }));
        // From the end on, which is always among them.
        for (after, loss) in crashes.iter().rev().step_by(crashes.len().div_ceil(moments)) {
            let crash = Crash::after(disk, *after);
            let state = crash.files(*loss);
            if !tried.insert(digest(*after, &state, ends)) {
                continue;
            }
            if let Err(what) = then(crash, &state) {
                let last = after.checked_sub(1).map(|at| disk.operations[at].to_string());
                let last = last.unwrap_or_default();
                failures.push(format!("{after} operations, {last}, lost: {loss:?}: {what}"));
            }
        }
        let (operations, tried) = (disk.operations.len(), tried.len());
        eprintln!("{operations} operations, {} crashes, {tried} disks tried", crashes.len());
        let shown = &failures[..failures.len().min(20)];
        assert!(failures.is_empty(), "{} failed: {shown:#?}", failures.len());
    }

    fn survives(&self, moments: usize) {
        let recording = self.record(0).unwrap();
        self.survives_in(&recording, asked(moments));
    }

    fn survives_in(&self, recording: &Recording, moments: usize) {
        self.fails(recording, moments, &mut |crash, left| self.goes_on(recording, &crash, left));
    }

    /// The power fails again while the program completes the interrupted run.
    fn survives_twice(&self, moments: usize) {
        let recording = self.record(0).unwrap();
        let moments = asked(moments).isqrt();
        self.fails(&recording, moments, &mut |crash, left| {
            self.restore(left);
            let again = self.record(recording.run_after(&crash))?;
            self.survives_in(&again, moments);
            Ok(())
        });
    }

    /// From the remaining files, each run ends as expected.
    fn goes_on(
        &self,
        recording: &Recording,
        crash: &Crash<'_>,
        left: &Files,
    ) -> Result<(), String> {
        let run = recording.run_after(crash);
        let ends = &recording.ends[run - recording.first..];
        if crash.after == ends[0].0 {
            // The program said that it was done.
            self.restore(left);
            same(&self.result(), &ends[0].1).map_err(|what| format!("done, but {what}"))?;
        }
        self.restore(left);
        for (run, (_, expected)) in self.runs[run..].iter().zip(ends) {
            self.finish(Command::new(PROGRAM), run)?;
            same(&self.result(), expected)?;
        }
        Ok(())
    }
}

impl Recording {
    /// The run to begin with after a crash.
    fn run_after(&self, crash: &Crash<'_>) -> usize {
        let ended = self.ends.iter().filter(|(end, _)| *end < crash.after).count();
        self.first + ended
    }
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_foldline");

/// The number of random losses at each moment.
const RANDOM: u64 = 4;

/// At how many moments the power fails.
fn asked(moments: usize) -> usize {
    let asked = std::env::var("FOLDLINE_POWER").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(moments)
}

/// A digest of the files on the disk and of the expected result.
fn digest(after: usize, state: &Files, ends: &[(usize, Files)]) -> u64 {
    let done = ends.iter().position(|(end, _)| after == *end);
    let run = ends.iter().position(|(end, _)| after <= *end);
    let mut hasher = DefaultHasher::new();
    (done, run, state).hash(&mut hasher);
    hasher.finish()
}

fn same(is: &Files, should: &Files) -> Result<(), String> {
    for (path, expected) in should {
        match is.get(path) {
            None => return Err(format!("{} is missing", path.display())),
            Some(bytes) if bytes != expected => {
                let at = bytes.iter().zip(expected).take_while(|(is, should)| is == should).count();
                let (path, length, right) = (path.display(), bytes.len(), expected.len());
                return Err(format!(
                    "{path} has {length} bytes, not {right}, and differs from {at} on"
                ));
            }
            Some(_) => {}
        }
    }
    if is.len() == should.len() { Ok(()) } else { Err(format!("there are {:?}", is.keys())) }
}

/// The files themselves, but of a database and an audit trail what they say. The trail is whole.
fn result(folder: &Path) -> Files {
    let trail = folder.join("trail/trail");
    let verified = Command::new(PROGRAM).arg("verify").arg(&trail).output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
    let mut found = files(folder);
    found.retain(|path, _| !path.starts_with("db"));
    found.insert("db/db".into(), dump(&folder.join("db/db")).into_bytes());
    found.insert("trail/trail".into(), said(&trail).into());
    found
}

fn log(turns: u64, seed: u64) -> String {
    droid(&format!("session-{seed}"), turns, seed)
}

fn logs(logs: &[(&str, &str)]) -> Vec<(String, String)> {
    logs.iter().map(|(name, log)| ((*name).to_owned(), (*log).to_owned())).collect()
}

fn replay(format: &'static str) -> Job {
    // More than is read at once, so that there are checkpoints in between.
    let long = json!({"type": "message", "role": "user", "id": "long", "session_id": "session-1",
                      "text": "long ".repeat(40 << 10)});
    let whole = format!("{}{long}\n{}{long}\n{}", log(4, 1), log(4, 1), log(2, 1));
    let run = |length, more: &[&'static str]| {
        let arguments = ["replay", "logs/log", "--executor", "droid", "--format", format, "--out"];
        let files = ["out/out", "--checkpoint", "checkpoint/checkpoint", "--checkpoint-every", "7"];
        let arguments = [&arguments[..], &files, more].concat();
        Run { logs: logs(&[("log", &whole[..length])]), arguments }
    };
    let half = whole.len() / 2;
    let further =
        if format == "events" { "patches=further/patches" } else { "events=further/events" };
    let sink = ["--sink", further];
    let runs = vec![
        run(half, &sink),
        run(whole.len(), &sink),
        run(half, &["--sink", further, "--restart"]),
    ];
    Job::new(&["out", "checkpoint", "further"], runs, |folder| {
        let mut found = files(folder);
        found.retain(|path, _| !path.starts_with("checkpoint"));
        found
    })
}

/// A folder for each file: what one file needs may not be synced by luck, with another.
const FOLDERS: [&str; 4] = ["db", "trail", "metrics", "further"];

const INGEST: [&str; 10] = [
    "ingest",
    "logs",
    "--db",
    "db/db",
    "--audit",
    "trail/trail",
    "--metrics",
    "metrics/metrics",
    "--sink",
    "patches=further/patches",
];

fn ingest() -> Job {
    let [a, b, c] = [1, 2, 3].map(|seed| log(4, seed));
    let half = &a[..a.len() / 2];
    let more = format!("{b}{}", log(1, 4));
    let run = |logs, more: &[&'static str]| Run { logs, arguments: [&INGEST, more].concat() };
    let runs = vec![
        run(logs(&[("a.jsonl", half), ("b.jsonl", &b)]), &[]),
        run(logs(&[("a.jsonl", &a), ("b.jsonl", &b), ("c.jsonl", &c)]), &["--final"]),
        run(logs(&[("a.jsonl", &a), ("b.jsonl", &more), ("c.jsonl", &c)]), &[]),
    ];
    Job::new(&FOLDERS, runs, result)
}

#[test]
#[cfg_attr(not(has_strace), ignore = "needs strace")]
fn a_replay_of_patches_is_completed() {
    replay("patches").survives(40);
}

#[test]
#[cfg_attr(not(has_strace), ignore = "needs strace")]
fn a_replay_of_events_is_completed() {
    replay("events").survives(40);
}

#[test]
#[cfg_attr(not(has_strace), ignore = "needs strace")]
fn an_ingest_is_completed() {
    ingest().survives(40);
}

#[test]
#[cfg_attr(not(has_strace), ignore = "needs strace")]
fn an_ingest_of_several_transactions_is_completed() {
    let logs = (0..300).map(|number| (format!("{number:03}.jsonl"), log(0, number))).collect();
    let run = Run { logs, arguments: INGEST.to_vec() };
    Job::new(&FOLDERS, vec![run], result).survives(6);
}

/// While a reader is active, nothing is moved from the write-ahead log into the database.
#[test]
#[cfg_attr(not(has_strace), ignore = "needs strace")]
fn an_ingest_beside_a_reader_is_completed() {
    let job = ingest();
    job.finish(Command::new(PROGRAM), &job.runs[0]).unwrap();
    let reader = rusqlite::Connection::open(job.folder.path().join("db/db")).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM sources").unwrap();
    let recording = job.record(1).unwrap();
    drop(reader);
    job.survives_in(&recording, asked(25));
}

#[test]
#[cfg_attr(not(has_strace), ignore = "needs strace")]
fn what_is_being_completed_is_completed() {
    replay("events").survives_twice(9);
    ingest().survives_twice(9);
}
