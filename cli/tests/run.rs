//! `foldline run`: agents as child processes, with partial writes, standard error, crashes and signals.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use crate::logs::{droid, foldline, stdout};
use tempfile::TempDir;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(place.path("source.jsonl"), droid("s-1", 3, 7)).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs an agent that is a script, in the folder.
    fn run(&self, options: &[&str], script: &str) -> Output {
        let mut command = foldline();
        command.current_dir(self.folder.path()).arg("run").args(options).arg("--");
        command.args(["sh", "-c", script]).stdin(Stdio::null()).output().unwrap()
    }

    fn replay(&self, log: &str, format: &str) -> String {
        stdout(&["replay", self.path(log).to_str().unwrap(), "--format", format])
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Prints a log in pieces of 7 bytes.
const IN_PIECES: &str = "dd if=source.jsonl bs=7 status=none";

#[test]
fn what_is_printed_is_that_of_a_replay_and_the_log_is_the_agents() {
    let place = Place::new();
    for format in ["transcript", "events", "conversation"] {
        let _ = fs::remove_file(place.path("log"));
        let run = place.run(&["--format", format, "--log", "log"], IN_PIECES);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        assert_eq!(text(&run.stdout), place.replay("source.jsonl", format), "{format}");
        assert_eq!(
            fs::read(place.path("log")).unwrap(),
            fs::read(place.path("source.jsonl")).unwrap()
        );
    }
}

/// A server that the agent started in the background, for example.
#[test]
fn a_process_that_holds_the_output_of_the_agent_is_not_waited_for() {
    let place = Place::new();
    let fifo = place.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for options in [&["--log", "log"][..], &["--log", "log", "--tap"]] {
        let run = place.run(options, "cat fifo & cat source.jsonl; exit 3");
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(3), "{said}");
        assert!(said.contains("another process holds its output"), "{said}");
        let [log, source] = ["log", "source.jsonl"].map(|name| fs::read(place.path(name)).unwrap());
        assert!(log == source);
        fs::remove_file(place.path("log")).unwrap();
        // The process ends.
        drop(fs::OpenOptions::new().write(true).open(&fifo).unwrap());
    }
}

#[test]
fn standard_error_is_in_the_log_and_in_the_conversation() {
    let place = Place::new();
    let script = "head -n 2 source.jsonl; echo 'careful: {\"not\": json}' >&2; sleep 0.1;
                  tail -n +3 source.jsonl; printf 'no end' >&2";
    let run = place.run(&["--format", "events", "--log", "log"], script);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let said = text(&run.stdout);
    assert!(said.contains(r#"careful: {\"not\": json}"#) && said.contains("no end"), "{said}");
    assert!(said.contains(r#""stream":"stderr""#), "{said}");
    assert!(!said.contains("unknown"), "{said}");
    assert_eq!(said, place.replay("log", "events"));
    // Nothing of the agent's own log is changed.
    let log = fs::read_to_string(place.path("log")).unwrap();
    let own: Vec<_> = log.lines().filter(|line| !line.contains("foldline.stderr")).collect();
    let source = fs::read_to_string(place.path("source.jsonl")).unwrap();
    assert_eq!(own, source.lines().collect::<Vec<_>>());
}

#[test]
fn the_exit_code_is_the_agents_and_what_it_did_is_stored() {
    let place = Place::new();
    for (script, code) in [
        (format!("{IN_PIECES}; exit 7"), 7),
        // It is killed in the middle of a line.
        ("head -c 700 source.jsonl; kill -9 $$".to_owned(), 137),
        (format!("{IN_PIECES}; kill -TERM $$"), 143),
    ] {
        let _ = fs::remove_file(place.path("log"));
        let _ = fs::remove_file(place.path("db"));
        let run = place.run(&["--log", "log", "--db", "db", "--task", "t"], &script);
        assert_eq!(run.status.code(), Some(code), "{script}: {}", text(&run.stderr));
        let db = place.path("db");
        let sessions = stdout(&["sessions", "--db", db.to_str().unwrap(), "-f", "csv"]);
        assert!(sessions.contains("s-1") && sessions.contains(",t,"), "{sessions}");
        let open = "SELECT count(*) AS n FROM tool_calls WHERE status = 'created'";
        let open = stdout(&["query", "sql", open, "--db", db.to_str().unwrap(), "-f", "csv"]);
        assert_eq!(open, "n\n0\n", "what is open is unfinished");
    }
}

#[test]
fn without_a_name_the_log_of_a_database_is_kept() {
    let place = Place::new();
    let mut command = foldline();
    command.env("HOME", place.folder.path()).current_dir(place.folder.path());
    let run = command.args(["run", "--db", "db", "--", "cat", "source.jsonl"]).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let runs = place.path(".local/share/foldline/runs");
    assert_eq!(fs::read_dir(runs).unwrap().count(), 1);
}

/// Whether interrupts are ignored, as in background jobs of a script. A shell cannot trap them then.
fn interrupts_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 0b10 != 0)
}

#[test]
fn an_interrupt_reaches_the_agent_and_what_it_says_then_is_shown() {
    let place = Place::new();
    let script = "trap 'tail -n 1 source.jsonl; exit 3' INT TERM; head -n 4 source.jsonl; while :; do sleep 0.05; done";
    let mut command = foldline();
    command
        .current_dir(place.folder.path())
        .args(["run", "--format", "events", "--", "sh", "-c", script]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    said.read_line(&mut first).unwrap();
    // It works: now it is interrupted.
    let pid = rustix::process::Pid::from_child(&child);
    let signal = match interrupts_are_ignored() {
        true => rustix::process::Signal::TERM,
        false => rustix::process::Signal::INT,
    };
    rustix::process::kill_process(pid, signal).unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(rest.contains("usage"), "{rest}");
}

#[test]
fn a_tap_changes_nothing_of_what_passes() {
    let place = Place::new();
    let say = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#;
    let script = format!("read line; printf '%s\\n' '{answer}'; echo note >&2");
    let mut command = foldline();
    command.current_dir(place.folder.path());
    command.args(["run", "--tap", "--log", "log", "--", "sh", "-c", &script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{say}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stdout), format!("{answer}\n"));
    assert_eq!(text(&output.stderr), "note\n");
    let log = fs::read_to_string(place.path("log")).unwrap();
    assert!(log.starts_with(&format!("{say}\n")) && log.contains(answer), "{log}");
}

#[test]
fn what_cannot_be_is_said() {
    let place = Place::new();
    let missing = place.run(&[], "exec /no/such/agent");
    assert_ne!(missing.status.code(), Some(0));
    let mut command = foldline();
    let missing = command.args(["run", "--", "/no/such/agent"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(127));
    assert!(text(&missing.stderr).contains("cannot start /no/such/agent"));
    // A log of an earlier run is not written over.
    fs::write(place.path("log"), "mine").unwrap();
    let run = place.run(&["--log", "log"], IN_PIECES);
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(fs::read(place.path("log")).unwrap(), b"mine");
}

#[test]
fn what_an_unknown_agent_prints_is_passed_on() {
    let place = Place::new();
    let script = "echo '{\"a\":1}'; echo 'not logged in' >&2; exit $CODE";
    // Without a log, there is nothing that could be replayed.
    for (options, code, exit) in [
        (&[] as &[&str], 0, 2),
        (&[], 7, 7),
        (&["--log", "log"], 0, 0),
        (&["--log", "log"], 7, 7),
        (&["--log", "log", "--db", "db"], 7, 7),
    ] {
        let _ = fs::remove_file(place.path("log"));
        let run = place.run(options, &script.replace("$CODE", &code.to_string()));
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(exit), "{options:?}: {said}");
        assert_eq!(text(&run.stdout), "{\"a\":1}\n", "{options:?}");
        assert!(said.starts_with("not logged in\nfoldline: cannot tell"), "{said}");
        assert_eq!(said.contains("what it printed is in log"), !options.is_empty(), "{said}");
    }
    // A tap has passed it on already.
    let tap = place.run(&["--tap"], &script.replace("$CODE", "7"));
    assert_eq!((text(&tap.stdout).as_str(), tap.status.code()), ("{\"a\":1}\n", Some(7)));
    // Who prints nothing leaves nothing to be recognised.
    let silent = place.run(&[], "exit 3");
    assert_eq!((silent.stderr.as_slice(), silent.status.code()), (b"".as_slice(), Some(3)));
    assert_eq!(place.run(&[], "true").status.code(), Some(0));
}
