//! `foldline replay --follow`: a log as it grows, is rotated, cut, removed and put back.
#![allow(clippy::unwrap_used, clippy::panic, reason = "that is how a test fails")]
#![cfg(all(feature = "cli", unix))]

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A log that is followed, and what comes out of it.
struct Followed {
    folder: tempfile::TempDir,
    child: Child,
}

impl Followed {
    fn start(begun: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("log"), begun).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_foldline"))
            .args(["replay", "--follow", "--format", "events", "--out", "out", "log"])
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self { folder, child }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn add(&self, text: &str) {
        let mut log = OpenOptions::new().append(true).open(self.path("log")).unwrap();
        log.write_all(text.as_bytes()).unwrap();
    }

    fn output(&self) -> String {
        fs::read_to_string(self.path("out")).unwrap_or_default()
    }

    /// Waits until something was said.
    fn wait_for(&self, text: &str) {
        let begun = Instant::now();
        while !self.output().contains(text) {
            assert!(begun.elapsed() < Duration::from_secs(20), "no {text} in {}", self.output());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends it as Ctrl-C does; gives everything that was said, and what went to standard error.
    fn end(mut self) -> (Vec<String>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
        let mut errors = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut errors).unwrap();
        (said_in(&self.output()), errors)
    }
}

fn said_in(output: &str) -> Vec<String> {
    let events =
        output.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let entries = events.filter(|event| event["event"] == "new_entry");
    entries.map(|event| event["data"]["entry"]["content"].as_str().unwrap().to_owned()).collect()
}

fn line(text: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"role\":\"user\",\"id\":\"m\",\"text\":\"{text}\",\"timestamp\":1}}\n"
    )
}

/// Longer than the time from one look to the next.
fn two_looks() {
    thread::sleep(Duration::from_millis(350));
}

#[test]
fn a_line_is_never_read_by_halves() {
    let followed = Followed::start("");
    let (begin, end) = (line("one"), line("two"));
    let (half, rest) = end.split_at(20);
    followed.add(&begin);
    followed.wait_for("\"one\"");
    followed.add(half);
    two_looks();
    assert_eq!(said_in(&followed.output()), ["one"]);
    followed.add(rest);
    followed.wait_for("\"two\"");
    assert_eq!(followed.end(), (vec!["one".into(), "two".into()], String::new()));
}

#[test]
fn a_renamed_log_is_read_to_its_end_and_then_the_new_one() {
    let followed = Followed::start(&line("one"));
    followed.wait_for("\"one\"");
    let mut old = OpenOptions::new().append(true).open(followed.path("log")).unwrap();
    fs::rename(followed.path("log"), followed.path("log.1")).unwrap();
    old.write_all(line("two").as_bytes()).unwrap();
    two_looks();
    fs::write(followed.path("log"), line("four")).unwrap();
    old.write_all(line("three").as_bytes()).unwrap();
    followed.wait_for("\"four\"");
    let (said, errors) = followed.end();
    assert_eq!(said, ["one", "two", "three", "four"]);
    assert!(errors.contains("was replaced"), "{errors}");
}

#[test]
fn a_log_that_is_copied_and_cut_is_read_again() {
    let followed = Followed::start(&line("one"));
    followed.wait_for("\"one\"");
    File::create(followed.path("log")).unwrap();
    two_looks();
    followed.add(&line("two"));
    followed.wait_for("\"two\"");
    let (said, errors) = followed.end();
    assert_eq!(said, ["one", "two"]);
    assert!(errors.contains("was cut"), "{errors}");
}

#[test]
fn a_log_that_grew_again_at_once_is_noticed() {
    let followed = Followed::start(&line("one"));
    followed.wait_for("\"one\"");
    // Longer than it was before anybody looks.
    let anew = [line("another one"), line("and another")].concat();
    fs::write(followed.path("log"), anew).unwrap();
    followed.wait_for("\"and another\"");
    assert_eq!(followed.end().0, ["one", "another one", "and another"]);
}

#[test]
fn a_log_may_be_removed_and_put_back() {
    let followed = Followed::start(&line("one"));
    followed.wait_for("\"one\"");
    fs::remove_file(followed.path("log")).unwrap();
    two_looks();
    fs::write(followed.path("log"), line("two")).unwrap();
    followed.wait_for("\"two\"");
    assert_eq!(followed.end().0, ["one", "two"]);
}

#[test]
fn what_was_torn_at_the_end_of_a_file_is_kept() {
    let followed = Followed::start(&format!("{}{{\"type\":\"mes", line("one")));
    followed.wait_for("\"one\"");
    fs::rename(followed.path("log"), followed.path("log.1")).unwrap();
    fs::write(followed.path("log"), line("two")).unwrap();
    followed.wait_for("\"two\"");
    assert_eq!(followed.end().0, ["one", "{\"type\":\"mes", "two"]);
}

#[test]
fn it_ends_by_itself_when_nothing_comes() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    fs::write(&log, line("one")).unwrap();
    let output = run(&log, &["--idle-exit", "0.3", "--format", "events"]);
    assert_eq!(said_in(&String::from_utf8(output.stdout).unwrap()), ["one"]);
    assert!(output.status.success());
}

#[test]
fn wrong_use_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    fs::write(&log, line("one")).unwrap();
    assert_eq!(run(Path::new("-"), &[]).status.code(), Some(2));
    let checkpoint = ["--idle-exit", "0", "--out", "/dev/null", "--checkpoint", "/dev/null"];
    assert_eq!(run(&log, &checkpoint).status.code(), Some(2));
    assert_eq!(run(folder.path(), &[]).status.code(), Some(1));
}

fn run(log: &Path, arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_foldline"))
        .args(["replay", "--follow"])
        .arg(log)
        .args(arguments)
        .output()
        .unwrap()
}
