//! The audit trail and the files of sinks next to a database belong to that database: committed data is never
//! removed from them, and gaps are reported. In the same way, files of sinks belong to the checkpoint of a replay.

use std::{
    fs,
    path::PathBuf,
    process::{Output, Stdio},
};

use crate::logs::{droid, foldline, run, said, stdout};
use foldline_database::sqlite::{DEFAULT_WAIT, Database};
use rusqlite::Connection;
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    /// With logs `one`, `two` and `three`.
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for (seed, name) in [(1, "one"), (2, "two"), (3, "three")] {
            fs::write(place.file(name), droid(name, 2, seed)).unwrap();
        }
        place
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn path(&self, name: &str) -> String {
        self.file(name).to_str().unwrap().to_owned()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).unwrap()
    }

    fn sql(&self, db: &str) -> Connection {
        Connection::open(self.file(db)).unwrap()
    }

    /// An ingest of a log into a database, with `--audit=FILE` or `--sink=NAME=FILE`.
    fn arguments(&self, log: &str, db: &str, beside: &[&str]) -> Vec<String> {
        let mut arguments = vec!["ingest".into(), self.path(log), "--db".into(), self.path(db)];
        arguments.extend(beside.iter().map(|output| {
            let (option, file) = output.rsplit_once('=').unwrap();
            format!("{option}={}", self.path(file))
        }));
        arguments
    }

    fn ingest(&self, log: &str, db: &str, beside: &[&str]) -> String {
        let arguments = self.arguments(log, db, beside);
        stdout(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// That an ingest is refused for this reason, and changes neither the file nor the database.
    fn refused(&self, log: &str, db: &str, beside: &str, file: &str, reason: &str) {
        let arguments = self.arguments(log, db, &[beside]);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let before = self.bytes(file);
        let entries = self.entries(db);
        let output = run(&arguments);
        assert_told(&output, reason);
        assert!(self.bytes(file) == before, "{file} was changed");
        assert_eq!(self.entries(db), entries);
    }

    /// The number of entries of a database; `None` without a database.
    fn entries(&self, db: &str) -> i64 {
        let count = "SELECT count(*) FROM entries";
        self.sql(db).query_row(count, [], |row| row.get(0)).unwrap_or(0)
    }

    fn verified(&self, trail: &str) -> String {
        stdout(&["verify", &self.path(trail)])
    }

    fn copy(&self, from: &str, to: &str) {
        fs::copy(self.file(from), self.file(to)).unwrap();
    }
}

fn assert_told(output: &Output, reason: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains(reason), "{error}");
}

const TRAIL: &str = "--audit=trail";
const EVENTS: &str = "--sink=events=events";

/// Both kinds of files, with the messages of their rejection.
const OTHERS: [(&str, &str, &str); 2] = [
    (TRAIL, "trail", "it is the audit trail of another database"),
    (EVENTS, "events", "it is not empty, and the database has not written it"),
];
const LONGER: &str = "it continues after what the database wrote to it";

#[test]
fn a_file_of_another_database_is_refused() {
    for (option, file, reason) in OTHERS {
        let place = Place::new();
        place.ingest("one", "db", &[option]);
        place.refused("two", "other", option, file, reason);
        place.ingest("three", "db", &[option]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_is_that_file() {
    for (option, file, reason) in OTHERS {
        let place = Place::new();
        std::os::unix::fs::symlink(place.file(file), place.file("link")).unwrap();
        let (other, _) = option.rsplit_once('=').unwrap();
        let link = format!("{other}=link");
        place.ingest("one", "db", &[option]);
        place.refused("two", "other", &link, file, reason);
        place.ingest("two", "db", &[&link]);
        place.ingest("three", "db", &[option]);
        let written = String::from_utf8(place.bytes(file)).unwrap();
        for log in ["one", "two", "three"] {
            assert!(written.contains(&format!("\"{log}\"")), "{log} is missing in {file}");
        }
    }
}

#[test]
fn an_older_database_that_was_restored_does_not_undo_the_files() {
    for (option, file, _) in OTHERS {
        let place = Place::new();
        place.ingest("one", "db", &[option]);
        place.copy("db", "backup");
        place.ingest("two", "db", &[option]);
        place.copy("backup", "db");
        place.refused("three", "db", option, file, LONGER);
        // Also if nothing else is to be done.
        place.refused("one", "db", option, file, LONGER);
        // The ingest can continue with a new file.
        let (option, _) = option.rsplit_once('=').unwrap();
        place.ingest("three", "db", &[&format!("{option}=new")]);
    }
}

#[test]
fn a_copy_of_the_database_does_not_go_on_with_its_files() {
    for (option, file, _) in OTHERS {
        let place = Place::new();
        place.ingest("one", "db", &[option]);
        place.copy("db", "copy");
        place.ingest("two", "copy", &[option]);
        place.refused("three", "db", option, file, LONGER);
        place.ingest("three", "copy", &[option]);
    }
}

#[test]
fn a_file_that_was_changed_is_refused() {
    for (option, file, _) in OTHERS {
        let place = Place::new();
        place.ingest("one", "db", &[option]);
        let whole = place.bytes(file);
        for (bytes, reason) in [
            (&whole[..whole.len() - 10], "it is shorter than what the database has written to it"),
            (&[], "it is shorter than what the database has written to it"),
            (&[&whole[..], b"\n"].concat(), LONGER),
        ] {
            fs::write(place.file(file), bytes).unwrap();
            place.refused("two", "db", option, file, reason);
        }
        let mut other = whole;
        let at = other.len() - 10;
        other[at] ^= 1;
        fs::write(place.file(file), other).unwrap();
        let reason = "it does not begin with what the database has written to it";
        place.refused("two", "db", option, file, reason);
    }
}

#[test]
fn a_trail_is_known_wherever_it_is_moved() {
    let place = Place::new();
    place.ingest("one", "db", &[TRAIL]);
    fs::rename(place.file("trail"), place.file("moved")).unwrap();
    place.ingest("two", "db", &["--audit=moved"]);
    assert!(said(&place.file("moved")).contains("\"two\""));
    assert!(place.verified("moved").contains("good"));
    // A copy that was left behind is not.
    place.copy("moved", "copy");
    place.ingest("three", "db", &["--audit=moved"]);
    place.refused("one", "db", "--audit=copy", "copy", "it is shorter than");
}

#[test]
fn a_file_that_is_no_trail_of_a_database_is_refused() {
    let place = Place::new();
    place.refused("two", "db", "--audit=one", "one", "does not begin as the audit trail");
    fs::create_dir(place.file("folder")).unwrap();
    let arguments = place.arguments("one", "db", &["--audit=folder"]);
    let output = run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is a directory"));
}

#[test]
fn a_run_without_the_trail_leaves_a_gap_that_is_told() {
    let place = Place::new();
    place.ingest("one", "db", &[TRAIL]);
    let summary = place.ingest("two", "db", &[]);
    let left_out = format!(
        "the audit trail has no record of what was added, without --audit {}",
        place.file("trail").canonicalize().unwrap().display()
    );
    assert!(summary.contains(&left_out), "{summary}");
    // Nothing is added, so that nothing is reported.
    let summary = place.ingest("two", "db", &[]);
    assert!(!summary.contains("audit trail"), "{summary}");
    assert!(!place.verified("trail").contains("missing"));

    let summary = place.ingest("three", "db", &[TRAIL]);
    assert!(summary.contains("has a gap, and records it: 1 commit made"), "{summary}");
    let report = place.verified("trail");
    assert!(report.contains("missing: 1 commit made without it before record"), "{report}");
    let summary = place.ingest("three", "db", &[TRAIL]);
    assert!(!summary.contains("gap"), "{summary}");

    // A trail that is begun later records that, too.
    place.ingest("one", "db", &["--audit=later"]);
    let report = place.verified("later");
    assert!(report.contains("missing: 3 commits made before the trail was begun"), "{report}");
}

#[test]
fn a_file_of_a_sink_has_no_gap() {
    let place = Place::new();
    place.ingest("one", "db", &[EVENTS]);
    place.ingest("two", "db", &[]);
    let reason = "it lacks 1 commit made to the database without it";
    place.refused("three", "db", EVENTS, "events", reason);
    place.ingest("three", "db", &["--sink=events=new"]);
}

/// Undoes the copy of the committed data of the last run, as if it had been killed before.
fn uncopied(place: &Place, earlier: &str, file: &str) {
    let length = |db: &str| {
        let state = "SELECT state ->> '$.written.length' FROM outputs";
        place.sql(db).query_row(state, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let (written, bytes) = (length(earlier), place.bytes(file));
    // With a connection that knows `row_crc32`.
    let database = Database::open(&place.file("db"), DEFAULT_WAIT).unwrap();
    let database = database.connection();
    database.execute("ATTACH ?1 AS earlier", [place.path(earlier)]).unwrap();
    database
        .execute(
            "INSERT INTO outbox SELECT name, ?1, ?2, row_crc32(name, ?1, ?2) FROM outputs",
            (written, &bytes[written as usize..]),
        )
        .unwrap();
    database
        .execute_batch(
            "UPDATE outputs SET state = json_set(state, '$.written',
                 json((SELECT state -> '$.written' FROM earlier.outputs)));
             UPDATE outputs SET crc32 = row_crc32(name, state, commits);",
        )
        .unwrap();
}

#[test]
fn what_was_committed_is_copied_by_the_next_run() {
    for (option, file, _) in OTHERS {
        let place = Place::new();
        place.ingest("one", "db", &[option]);
        place.copy("db", "earlier");
        let begun = place.bytes(file);
        place.ingest("two", "db", &[option]);
        let whole = place.bytes(file);
        uncopied(&place, "earlier", file);
        place.copy("db", "killed");

        // It was killed anywhere within the copying, or some of the copy was not on the disk yet.
        let zeros = vec![0; whole.len()];
        let lengths = [begun.len(), begun.len() + 1, whole.len() - 1, whole.len()];
        for length in lengths {
            for rest in [&[][..], &zeros[length..]] {
                place.copy("killed", "db");
                fs::write(place.file(file), [&whole[..length], rest].concat()).unwrap();
                place.ingest("two", "db", &[option]);
                assert!(place.bytes(file) == whole, "{file} with {length}");
                let left: i64 = place
                    .sql("db")
                    .query_row("SELECT count(*) FROM outbox", [], |row| row.get(0))
                    .unwrap();
                assert_eq!(left, 0);
            }
        }

        // The database of the killed run is restored after later runs.
        place.ingest("three", "db", &[option]);
        place.copy("killed", "db");
        place.refused("one", "db", option, file, LONGER);
        let mut other = whole.clone();
        other[begun.len() + 5] ^= 1;
        fs::write(place.file(file), other).unwrap();
        place.refused(
            "one",
            "db",
            option,
            file,
            "it does not hold what the database has committed",
        );
    }
}

#[test]
fn two_runs_at_once_do_not_lose_records() {
    let place = Place::new();
    for number in 0..40 {
        let name = format!("log-{number}");
        fs::create_dir_all(place.file("logs")).unwrap();
        fs::write(place.file("logs").join(&name), droid(&name, 10, number)).unwrap();
    }
    let arguments = place.arguments("logs", "db", &[TRAIL, EVENTS]);
    let children: Vec<_> = (0..3)
        .map(|_| {
            let mut command = foldline();
            command.args(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        // Each waits for the others, and reads what they have left.
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    place.ingest("logs", "db", &[TRAIL, EVENTS]);
    let alone =
        place.arguments("logs", "alone", &["--audit=alone-trail", "--sink=events=alone-events"]);
    stdout(&alone.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(said(&place.file("trail")) == said(&place.file("alone-trail")));
    assert!(place.bytes("events") == place.bytes("alone-events"));
}

/// A replay with a checkpoint, whose events go to this file.
fn replay(place: &Place, log: &str, events: &str) -> Output {
    let [log, out, checkpoint, events] =
        [log, "out", "checkpoint", events].map(|it| place.path(it));
    let sink = format!("events={events}");
    let replay =
        ["replay", &log, "--format", "patches", "--out", &out, "--checkpoint", &checkpoint];
    run(&[&replay[..], &["--sink", &sink]].concat())
}

#[test]
fn a_replay_notices_that_a_run_has_left_a_file_out() {
    let place = Place::new();
    let log = fs::read_to_string(place.file("one")).unwrap();
    let lines: Vec<_> = log.split_inclusive('\n').collect();
    let grow = |count: usize| fs::write(place.file("log"), lines[..count].concat()).unwrap();
    grow(5);
    assert!(replay(&place, "log", "first").status.success());
    grow(8);
    assert!(replay(&place, "log", "second").status.success());
    grow(lines.len());
    let before = place.bytes("first");
    assert_told(&replay(&place, "log", "first"), "a run without it has read on");
    assert!(place.bytes("first") == before);
    assert!(replay(&place, "log", "second").status.success());
}

#[test]
fn a_replay_that_cannot_go_on_leaves_the_files_as_they_are() {
    let place = Place::new();
    let call =
        r#"{"type":"tool_call","id":"open","messageId":"m","toolName":"Read","parameters":{}}"#;
    let log = fs::read_to_string(place.file("one")).unwrap() + call + "\n";
    fs::write(place.file("one"), log).unwrap();
    // That the call has no result is written at the end, after the last checkpoint.
    assert!(replay(&place, "one", "events").status.success());
    let whole = ["out", "events"].map(|file| place.bytes(file));
    fs::write(place.file("one"), "another log\n").unwrap();
    assert_told(&replay(&place, "one", "events"), "cannot resume from the checkpoint");
    assert!(["out", "events"].map(|file| place.bytes(file)) == whole);
}
