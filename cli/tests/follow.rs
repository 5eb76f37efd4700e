//! `foldline replay --follow`: a log as it grows, is rotated, cut, removed and put back.
#![cfg(unix)]

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A followed log, and the output of the program.
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

    fn signal(&self, name: &str) {
        crate::logs::signal(name, self.child.id());
    }

    /// Ends it as Ctrl-C does; gives everything that was said, and what went to standard error.
    fn end(mut self) -> (Vec<String>, String) {
        self.signal("TERM");
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
    assert!(errors.contains("was truncated"), "{errors}");
}

#[test]
fn a_log_that_grew_again_at_once_is_noticed() {
    let followed = Followed::start(&line("one"));
    followed.wait_for("\"one\"");
    // Longer than before, by the time that the program reads it.
    let next = [line("another one"), line("and another")].concat();
    fs::write(followed.path("log"), next).unwrap();
    followed.wait_for("\"and another\"");
    assert_eq!(followed.end().0, ["one", "another one", "and another"]);
}

/// A log is renamed twice or more between two polls.
fn rotated_unseen(names: [&str; 2], expected: &[&str]) -> String {
    let followed = Followed::start(&line("one"));
    followed.wait_for("\"one\"");
    followed.signal("STOP");
    followed.add(&line("two"));
    let [older, younger] = names.map(|name| followed.path(name));
    fs::rename(followed.path("log"), older).unwrap();
    fs::write(&younger, line("three")).unwrap();
    fs::write(followed.path("log"), line("four")).unwrap();
    followed.signal("CONT");
    followed.wait_for("\"four\"");
    let (said, errors) = followed.end();
    assert_eq!(said, expected, "{names:?}");
    errors
}

#[test]
fn a_log_that_is_rotated_twice_between_two_looks_is_read_whole() {
    let whole = ["one", "two", "three", "four"];
    for names in [["log.2", "log.1"], ["log-20260101", "log-20260102"]] {
        let errors = rotated_unseen(names, &whole);
        assert!(errors.contains("more than once"), "{errors}");
    }
    // Nothing shows that the other log was between them.
    for names in [["log.1", "log.2"], ["log.old", "log.1"], ["log.1", "log-20260102"]] {
        let errors = rotated_unseen(names, &["one", "two", "four"]);
        assert!(!errors.contains("more than once"), "{errors}");
    }
}

#[test]
fn what_may_have_been_missed_between_two_looks_is_told() {
    let followed = Followed::start(&line("one"));
    followed.wait_for("\"one\"");
    followed.signal("STOP");
    fs::remove_file(followed.path("log")).unwrap();
    fs::write(followed.path("log"), line("two")).unwrap();
    followed.signal("CONT");
    followed.wait_for("\"two\"");
    let (said, errors) = followed.end();
    assert_eq!(said, ["one", "two"]);
    assert!(errors.contains("whether others stood between them is not known"), "{errors}");
}

#[test]
fn the_copy_of_a_log_that_was_cut_is_read_to_its_end() {
    let begun = line(&"one ".repeat(300));
    let followed = Followed::start(&begun);
    followed.wait_for("one one");
    followed.signal("STOP");
    let (half, rest) = ("{\"type\":\"message\",\"role\":", "\"user\",\"text\":\"two\"}\n");
    followed.add(half);
    followed.signal("CONT");
    two_looks();
    followed.signal("STOP");
    followed.add(rest);
    followed.add(&line("three"));
    fs::copy(followed.path("log"), followed.path("log.1")).unwrap();
    File::create(followed.path("log")).unwrap();
    followed.add(&line("four"));
    // Another one, which only begins alike.
    fs::write(followed.path("log.2"), &begun).unwrap();
    followed.signal("CONT");
    followed.wait_for("\"four\"");
    let (said, errors) = followed.end();
    assert_eq!(said[1..], ["two", "three", "four"]);
    let unread = rest.len() + line("three").len();
    assert!(errors.contains(&format!("log.1 and truncated; {unread} unread bytes")), "{errors}");
}

#[test]
fn the_size_of_what_was_cut_off_unread_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let length = fs::write(&log, line("one").repeat(8000)).map(|()| fs::metadata(&log).unwrap());
    let length = length.unwrap().len();
    let mut child = Command::new(env!("CARGO_BIN_EXE_foldline"))
        .args(["replay", "--follow", "--idle-exit", "0.3", "--format", "events"])
        .arg(&log)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The output is not read, so the program blocks after the first piece of input.
    let mut said = [0];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
    File::create(&log).unwrap();
    let errors = child.wait_with_output().unwrap().stderr;
    let errors = String::from_utf8(errors).unwrap();
    let numbers = errors.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    let [read, lost] = numbers.collect::<Vec<_>>()[..] else { panic!("{errors}") };
    assert!(read > 0 && lost > 0 && read + lost == length, "{errors}");
}

#[test]
fn a_log_that_was_cut_while_nobody_followed_it_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let follow = || {
        let output = Command::new(env!("CARGO_BIN_EXE_foldline"))
            .args(["replay", "--follow", "--idle-exit", "0", "--executor", "droid", "log"])
            .args(["--format", "events", "--out", "out", "--checkpoint", "checkpoint"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{errors}");
        (said_in(&fs::read_to_string(folder.path().join("out")).unwrap()), errors)
    };
    fs::write(&log, line("one") + &line("two")).unwrap();
    assert_eq!(follow(), (vec!["one".into(), "two".into()], String::new()));
    fs::write(&log, line("three")).unwrap();
    let (said, errors) = follow();
    assert_eq!(said, ["one", "two", "three"]);
    assert!(errors.contains("log was truncated or rewritten"), "{errors}");
    // It is reported once.
    let appended = [fs::read_to_string(&log).unwrap(), line("four")].concat();
    fs::write(&log, appended).unwrap();
    let said = ["one", "two", "three", "four"].map(str::to_owned).into();
    assert_eq!(follow(), (said, String::new()));
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
    assert_eq!(run(folder.path(), &[]).status.code(), Some(2));
    let linked = folder.path().join("linked");
    std::os::unix::fs::symlink(&log, &linked).unwrap();
    let over_the_log = ["--idle-exit", "0", "--out", linked.to_str().unwrap()];
    assert_eq!(run(&log, &over_the_log).status.code(), Some(2));
    assert_eq!(fs::read_to_string(&log).unwrap(), line("one"));
}

fn run(log: &Path, arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_foldline"))
        .args(["replay", "--follow"])
        .arg(log)
        .args(arguments)
        .output()
        .unwrap()
}
