//! A full disk: the program names the file that cannot be written, leaves no partial output, and with more space the
//! same command ends as if the disk had not been full.
#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    process::{Command, Output},
};

use crate::logs::{assert_same, droid, dump, run, said, stdout, write_logs};
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_logs(&folder.path().join("logs"), 6, 30);
        // More than one segment, so that there is something to be kept.
        fs::write(folder.path().join("logs/large.jsonl"), droid("large", 1_500, 5)).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        PathBuf::from(self.0.path()).join(name).to_str().unwrap().to_owned()
    }

    /// An ingest into files of this name, with a trail.
    fn ingest(&self, name: &str) -> [String; 6] {
        let file = |end| self.path(&format!("{name}.{end}"));
        [
            "ingest".into(),
            self.path("logs"),
            "--db".into(),
            file("db"),
            "--audit".into(),
            file("audit"),
        ]
    }
}

/// The program where no file may be larger than this many blocks of 512 bytes.
fn with_room(blocks: u32, arguments: &[impl AsRef<str>]) -> Output {
    let script = format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_foldline")]);
    shell.args(arguments.iter().map(AsRef::as_ref)).env_remove("RUST_LOG").output().unwrap()
}

/// Asserts that the program failed, and named the file that it could not write.
fn assert_told(output: &Output, what: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.starts_with("foldline: ") && error.contains(what), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

fn done(arguments: &[String]) -> String {
    stdout(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn an_ingest_that_runs_out_of_room_goes_on_with_more() {
    let place = Place::new();
    let whole = place.ingest("whole");
    done(&whole);
    let sizes: Vec<_> = ["db", "audit"]
        .map(|end| fs::metadata(place.path(&format!("whole.{end}"))).unwrap().len())
        .into();
    for tenths in [1, 3, 6] {
        let name = format!("cut-{tenths}");
        let cut = place.ingest(&name);
        let room = sizes.iter().max().unwrap() * tenths / 10 / 512;
        assert_told(&with_room(room as u32, &cut), &name);
        // The trail ends with a whole record.
        let trail = |name: &str| said(place.path(&format!("{name}.audit")).as_ref());
        let whole_trail = trail("whole");
        let is_begun = fs::exists(place.path(&format!("{name}.audit"))).unwrap();
        assert!(!is_begun || whole_trail.starts_with(&trail(&name)), "{tenths}");

        done(&cut);
        let db = |name: &str| dump(place.path(&format!("{name}.db")).as_ref());
        assert_same(&db(&name), &db("whole"), &name);
        assert!(trail(&name) == whole_trail);
    }
}

#[test]
fn a_trail_without_room_is_told_and_the_database_waits_for_it() {
    let place = Place::new();
    let db = place.path("db");
    let logs = place.path("logs");
    let output = run(&["ingest", &logs, "--db", &db, "--audit", "/dev/full"]);
    assert_told(&output, "/dev/full");
    assert_eq!(count_entries(&db), 0);
}

fn count_entries(db: &str) -> i64 {
    let connection = rusqlite::Connection::open(db).unwrap();
    connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).unwrap()
}

#[test]
fn metrics_that_cannot_be_written_leave_the_earlier_ones_whole() {
    let place = Place::new();
    let (db, metrics) = (place.path("db"), place.path("m.prom"));
    let command = ["ingest", &place.path("logs"), "--db", &db, "--metrics", &metrics];
    stdout(&command);
    let whole = fs::read_to_string(&metrics).unwrap();
    fs::write(&metrics, "earlier\n").unwrap();
    let in_the_way = place.path("m.prom.foldline-new");
    fs::create_dir(&in_the_way).unwrap();
    let output = run(&command);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&in_the_way));
    assert_eq!(fs::read_to_string(&metrics).unwrap(), "earlier\n");
    fs::remove_dir(&in_the_way).unwrap();
    stdout(&command);
    assert_eq!(fs::read_to_string(&metrics).unwrap(), whole);
}

/// A user with write access to the folder cannot cause another file to be overwritten.
#[test]
fn a_planted_link_is_not_followed() {
    let place = Place::new();
    let (db, metrics, victim) = (place.path("db"), place.path("m.prom"), place.path("victim"));
    fs::write(&victim, "precious\n").unwrap();
    for name in ["m.prom.new", "m.prom.foldline-new", "checkpoint.new", "checkpoint.foldline-new"] {
        symlink(&victim, place.path(name)).unwrap();
    }
    stdout(&["ingest", &place.path("logs"), "--db", &db, "--metrics", &metrics]);
    let (log, out) = (place.path("logs/large.jsonl"), place.path("out"));
    let checkpoint = place.path("checkpoint");
    let replay = ["replay", &log, "--out", &out, "--format", "events", "--checkpoint", &checkpoint];
    stdout(&replay);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious\n");
    for written in [metrics, checkpoint] {
        assert!(fs::symlink_metadata(written).unwrap().is_file());
    }
}

#[test]
fn a_replay_that_runs_out_of_room_goes_on_with_more() {
    let place = Place::new();
    let log = place.path("logs/large.jsonl");
    let command = |name: &str| -> Vec<String> {
        let (out, checkpoint) = (place.path(name), place.path(&format!("{name}.checkpoint")));
        ["replay", &log, "--format", "patches", "--out", &out, "--checkpoint", &checkpoint]
            .map(str::to_owned)
            .into()
    };
    done(&command("whole"));
    let whole = fs::read(place.path("whole")).unwrap();
    for tenths in [1, 5, 9] {
        let name = format!("cut-{tenths}");
        let room = whole.len() * tenths / 10 / 512;
        assert_told(&with_room(room as u32, &command(&name)), "cannot write");
        assert!(whole.starts_with(&fs::read(place.path(&name)).unwrap()), "{tenths}");
        done(&command(&name));
        assert!(fs::read(place.path(&name)).unwrap() == whole, "{tenths}");
    }
}

#[test]
fn a_standard_output_without_room_is_told() {
    let place = Place::new();
    for format in ["transcript", "patches", "events", "conversation", "metrics"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foldline"));
        command.args(["replay", &place.path("logs/large.jsonl"), "--format", format]);
        command.env_remove("RUST_LOG").stdout(fs::File::create("/dev/full").unwrap());
        assert_told(&command.output().unwrap(), "No space left");
    }
}

#[test]
fn a_device_is_written_to_and_stays_one() {
    let place = Place::new();
    let nowhere = place.path("nowhere");
    symlink("/dev/null", &nowhere).unwrap();
    let mut ingest = place.ingest("device").to_vec();
    ingest.extend(["--metrics".into(), nowhere.clone()]);
    done(&ingest);
    let log = place.path("logs/large.jsonl");
    done(&["replay".into(), log, "--out".into(), nowhere.clone()]);
    assert!(!fs::metadata(&nowhere).unwrap().is_file());
}
