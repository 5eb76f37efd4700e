//! A failing disk: each operation fails in turn, and the disk is full at every size. The program reports the failure,
//! and a second run ends as if there had been no failure.
//!
//! `strace` makes operations fail, or kills the program at them; a limit of the size of files simulates a full
//! disk. `FOLDLINE_FAULTS=1` tries every operation
//! with every fault, and not some of them.
#![cfg(target_os = "linux")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::logs::{droid, dump, said};

/// What is done to a file.
const OPERATIONS: [&str; 10] = [
    "openat",
    "read",
    "lseek",
    "write",
    "pwrite64",
    "ftruncate",
    "fsync",
    "fdatasync",
    "rename",
    "unlink",
];

const FAULTS: [&str; 3] = ["error=ENOSPC", "error=EIO", "signal=KILL"];

/// A command of the program, and its results.
struct Job {
    folder: tempfile::TempDir,
    arguments: Vec<String>,
    /// The files that it works with.
    files: Vec<PathBuf>,
    /// What the user has in the end.
    result: fn(&Path) -> Vec<u8>,
}

impl Job {
    fn replay(format: &str, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("log"), droid("replayed", 90, 1)).unwrap();
        let [log, out, checkpoint] =
            ["log", "out", "checkpoint"].map(|name| in_folder(folder.path(), name));
        let arguments = ["replay", &log, "--executor", "droid", "--format", format, "--out", &out]
            .into_iter()
            .chain(["--checkpoint", &checkpoint, "--checkpoint-every", "1"])
            .chain(more.iter().copied());
        let arguments = arguments.map(str::to_owned).collect();
        let names = ["", "log", "out", "checkpoint", "checkpoint.foldline-new"];
        let files = names.map(|name| folder.path().join(name)).to_vec();
        Self { folder, arguments, files, result: |folder| fs::read(folder.join("out")).unwrap() }
    }

    fn ingest() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        for (name, seed) in [("a.jsonl", 1), ("b.jsonl", 2)] {
            fs::write(folder.path().join("logs").join(name), droid(name, 12, seed)).unwrap();
        }
        let [logs, db, trail, metrics, events] =
            ["logs", "db", "trail", "metrics", "events"].map(|name| in_folder(folder.path(), name));
        let sink = format!("events={events}");
        let arguments = ["ingest", &logs, "--db", &db, "--audit", &trail, "--metrics", &metrics]
            .into_iter()
            .chain(["--sink", &sink, "--jobs", "1"]);
        let arguments = arguments.map(str::to_owned).collect();
        let names = ["db", "db-wal", "db-shm", "db-journal", "trail", "events"];
        let files = names.iter().chain(&["metrics", "metrics.foldline-new"]);
        let files = files.map(|name| folder.path().join(name)).collect();
        let result = |folder: &Path| {
            let read = |name| fs::read_to_string(folder.join(name)).unwrap();
            let beside = [said(&folder.join("trail")), read("metrics"), read("events")].concat();
            [dump(&folder.join("db")), beside].concat().into_bytes()
        };
        Self { folder, arguments, files, result }
    }

    /// As it was before the first run.
    fn begin_anew(&self) {
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() && !path.ends_with("log") {
                fs::remove_file(path).unwrap();
            }
        }
    }

    fn run(&self) -> Output {
        Command::new(env!("CARGO_BIN_EXE_foldline")).args(&self.arguments).output().unwrap()
    }

    fn result(&self) -> Vec<u8> {
        (self.result)(self.folder.path())
    }

    /// What an undisturbed run ends with.
    fn undisturbed(&self) -> Vec<u8> {
        self.begin_anew();
        let output = self.run();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.result()
    }

    /// Under `strace`, with its record in `trace`.
    fn traced(&self, operations: &[&str], fault: Option<&str>) -> Output {
        let mut command = Command::new("strace");
        command.args(["-f", "-q", "-o"]).arg(self.trace());
        command.args(["-e", &format!("trace={}", operations.join(","))]);
        for file in &self.files {
            command.arg("-P").arg(file);
        }
        command.args(fault.map(|fault| format!("--inject={fault}")));
        command.arg(env!("CARGO_BIN_EXE_foldline")).args(&self.arguments);
        command.output().unwrap()
    }

    fn trace(&self) -> PathBuf {
        self.folder.path().join("trace")
    }

    /// How many operations of each kind an undisturbed run does.
    fn operations(&self) -> BTreeMap<&'static str, usize> {
        self.begin_anew();
        assert!(self.traced(&OPERATIONS, None).status.success());
        let trace = fs::read_to_string(self.trace()).unwrap();
        let mut counts = BTreeMap::new();
        for line in trace.lines() {
            let call = line.split_whitespace().nth(1).unwrap_or_default();
            let operation = OPERATIONS
                .iter()
                .find(|name| call.strip_prefix(**name).is_some_and(|rest| rest.starts_with('(')));
            if let Some(operation) = operation {
                *counts.entry(*operation).or_default() += 1;
            }
        }
        counts
    }

    /// Whatever the outcome of the first run, it was reported clearly, and the next run completes it.
    fn check(&self, first: &Output, expected: &[u8], what: &str) {
        let said = [&*first.stdout, &*first.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        match first.status.code() {
            Some(0) => assert!(self.result() == expected, "{what}: called done, and is not"),
            Some(1) => {
                let folder = self.folder.path().to_str().unwrap();
                assert!(said.contains(folder), "{what}: it is not said where: {said}");
                assert!(!said.contains("panicked"), "{what}: {said}");
            }
            code => assert_eq!(first.status.signal(), Some(9), "{what}: {code:?} {said}"),
        }
        let second = self.run();
        let said = String::from_utf8_lossy(&second.stderr);
        assert!(second.status.success(), "{what}, and then: {said}");
        assert!(self.result() == expected, "{what}, and then another result");
    }

    /// Each operation fails in turn; one in `step` of them unless all are asked for.
    fn fails_anywhere(&self, step: usize) {
        let every = std::env::var_os("FOLDLINE_FAULTS").is_some();
        let expected = self.undisturbed();
        let operations = self.operations();
        assert!(operations["write"] > 1 && operations["fdatasync"] > 1, "{operations:?}");
        let (mut struck, mut told) = (0, 0);
        for (operation, count) in &operations {
            for nth in 1..=*count {
                for (number, fault) in FAULTS.iter().enumerate() {
                    if !every && !(nth * FAULTS.len() + number).is_multiple_of(step) {
                        continue;
                    }
                    let fault = format!("{operation}:{fault}:when={nth}");
                    self.begin_anew();
                    let first = self.traced(&OPERATIONS, Some(&fault));
                    struck += usize::from(!first.status.success());
                    told += usize::from(first.status.code() == Some(1));
                    self.check(&first, &expected, &fault);
                }
            }
        }
        eprintln!("{operations:?}: {struck} runs struck, {told} of them told of it");
        assert!(told > 0 && struck > told, "{struck} struck, {told} told");
    }

    /// Limits files to this number of blocks; the signal of the limit is ignored.
    fn on_a_disk_of(&self, blocks: usize) -> Output {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        Command::new("sh")
            .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_foldline")])
            .args(&self.arguments)
            .output()
            .unwrap()
    }

    fn fills_the_disk_at_any_size(&self, step: usize) {
        let expected = self.undisturbed();
        let mut told = 0;
        for blocks in (0..).step_by(step) {
            self.begin_anew();
            let first = self.on_a_disk_of(blocks);
            self.check(&first, &expected, &format!("{blocks} blocks"));
            if first.status.success() {
                break;
            }
            told += 1;
        }
        eprintln!("{told} disks were too small");
        assert!(told > 4);
    }

    /// The disk grows a little from one run to the next, and no run restarts from the beginning.
    fn grows_with_the_disk(&self, step: usize) {
        let expected = self.undisturbed();
        self.begin_anew();
        let done = (0..).step_by(step).find(|blocks| self.on_a_disk_of(*blocks).status.success());
        assert!(done > Some(4 * step));
        assert!(self.result() == expected);
    }
}

fn in_folder(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
#[cfg_attr(not(has_strace), ignore = "needs strace")]
fn any_operation_of_a_replay_may_fail() {
    Job::replay("patches", &[]).fails_anywhere(4);
}

#[test]
#[cfg_attr(not(has_strace), ignore = "needs strace")]
fn any_operation_of_a_replay_that_follows_may_fail() {
    Job::replay("events", &["--follow", "--idle-exit", "0"]).fails_anywhere(8);
}

#[test]
#[cfg_attr(not(has_strace), ignore = "needs strace")]
fn any_operation_of_an_ingest_may_fail() {
    Job::ingest().fails_anywhere(16);
}

#[test]
fn the_disk_may_be_full_for_a_replay() {
    for format in ["patches", "events"] {
        let job = Job::replay(format, &[]);
        job.fills_the_disk_at_any_size(29);
        job.grows_with_the_disk(29);
    }
}

#[test]
fn the_disk_may_be_full_for_an_ingest() {
    let job = Job::ingest();
    job.fills_the_disk_at_any_size(61);
    job.grows_with_the_disk(61);
}

/// What replaces the rows of a log is undone if the log cannot be read to its end, and so are its records.
#[test]
#[cfg_attr(not(has_strace), ignore = "needs strace")]
fn a_replacement_that_fails_leaves_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| in_folder(folder.path(), name);
    let ingest = |more: &[&str]| {
        let (logs, db, trail) = (path("logs"), path("db"), path("trail"));
        let events = format!("events={}", path("events"));
        let arguments = ["ingest", &logs, "--db", &db, "--audit", &trail, "--sink", &events];
        arguments.iter().chain(more).map(|&argument| argument.to_owned()).collect::<Vec<_>>()
    };
    let run = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_foldline")).args(ingest(more)).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    fs::create_dir(path("logs")).unwrap();
    // More than one segment, so that something is committed before the rest fails.
    let log = droid("a", 2_400, 1);
    assert!(log.len() > 5 << 18);
    fs::write(path("logs/a.jsonl"), &log).unwrap();
    run(&["--final"]);
    let before = [said(path("trail").as_ref()), read("events")];
    let copy = |from: &str, to: &str| {
        for name in ["db", "trail", "events"] {
            fs::copy(path(&format!("{name}{from}")), path(&format!("{name}{to}"))).unwrap();
        }
    };
    copy("", ".before");

    // It grows although it was final, and is therefore read again from its beginning.
    fs::write(path("logs/a.jsonl"), log + &droid("a", 2, 2)).unwrap();
    fs::write(path("logs/b.jsonl"), droid("b", 2, 3)).unwrap();
    let traced = |fault: &[&str]| {
        let mut command = Command::new("strace");
        command.args([
            "-f",
            "-q",
            "--seccomp-bpf",
            "-e",
            "trace=read",
            "-P",
            &path("logs/a.jsonl"),
        ]);
        command.args(["-o", &path("trace")]).args(fault).arg(env!("CARGO_BIN_EXE_foldline"));
        command.args(ingest(&["--jobs", "1"])).output().unwrap()
    };
    assert!(traced(&[]).status.success());
    let (whole, reads) = (dump(path("db").as_ref()), read("trace").lines().count());
    copy(".before", "");

    let fault = format!("--inject=read:error=EIO:when={}", reads - 2);
    let output = traced(&[&fault]);
    let summary = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{summary}");
    assert!(
        summary.contains("1 read (1 new, 0 grown), 0 unchanged, 0 skipped, 1 failed"),
        "{summary}"
    );
    let verified =
        Command::new(env!("CARGO_BIN_EXE_foldline")).args(["verify", &path("trail")]).status();
    assert!(verified.unwrap().success());
    for (now, before) in [said(path("trail").as_ref()), read("events")].iter().zip(&before) {
        let added = now.strip_prefix(before.as_str()).expect("what was there stays");
        assert!(!added.contains("a.jsonl\"") && added.contains("\"b\""));
    }
    run(&[]);
    dump(path("db").as_ref())
        .lines()
        .zip(whole.lines())
        .for_each(|(is, should)| assert_eq!(is, should));
}
