//! No verb writes to a file that it reads, or to one file twice, whatever the file is called.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use crate::logs::{droid, foldline, stdout};

struct Place(tempfile::TempDir);

impl Place {
    /// A folder with logs in `logs`, a database `db` with the trail `trail`, and a link `link` to the folder.
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("logs")).unwrap();
        for seed in 1..3 {
            let log = droid(&format!("session-{seed}"), 3, seed);
            fs::write(place.path(&format!("logs/{seed}.jsonl")), log).unwrap();
        }
        symlink(place.0.path(), place.path("link")).unwrap();
        place.ends_with(0, &["ingest", "logs", "--db", "db", "--audit", "trail"], "added");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Every name of a file that is or will be at `name`.
    fn names(&self, name: &str) -> Vec<String> {
        let full = self.path(name);
        let mut names = vec![
            name.to_owned(),
            format!("./logs/../{name}"),
            format!("link/{name}"),
            full.to_str().unwrap().to_owned(),
        ];
        symlink(&full, self.path("symbolic")).unwrap();
        symlink("symbolic", self.path("symbolic-twice")).unwrap();
        names.extend(["symbolic".to_owned(), "symbolic-twice".to_owned()]);
        if full.exists() {
            fs::hard_link(&full, self.path("hard")).unwrap();
            names.push("hard".to_owned());
        }
        names
    }

    fn forget_names(&self) {
        for name in ["symbolic", "symbolic-twice", "hard"] {
            let _ = fs::remove_file(self.path(name));
        }
    }

    fn contents(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut contents = BTreeMap::new();
        collect(self.0.path(), &mut contents);
        contents
    }

    fn ends_with(&self, code: i32, arguments: &[&str], says: &str) {
        let output = foldline().args(arguments).current_dir(self.0.path()).output().unwrap();
        let said = [&*output.stdout, &*output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }

    /// That the command is refused as wrong use, and nothing is touched.
    fn refuses(&self, arguments: &[&str]) {
        let before = self.contents();
        self.ends_with(2, arguments, "is the same file as");
        assert!(self.contents() == before, "{arguments:?}");
    }

    /// That the command is refused where `FILE` is any name of the file `name`.
    fn refuses_names(&self, name: &str, command: &str) {
        for alias in self.names(name) {
            let arguments: Vec<_> =
                command.split(' ').map(|word| word.replace("FILE", &alias)).collect();
            self.refuses(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        }
        self.forget_names();
    }
}

fn collect(folder: &Path, contents: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            collect(&path, contents);
        } else {
            contents.insert(path.clone(), fs::read(&path).ok());
        }
    }
}

#[test]
fn a_replay_writes_to_no_file_that_it_reads() {
    let place = Place::new();
    for command in [
        "replay logs/1.jsonl --out FILE",
        "replay logs/1.jsonl --sink metrics=FILE",
        "replay logs/1.jsonl --follow --idle-exit 0 --format events --sink patches=FILE",
        "replay logs/1.jsonl --format events --out out --checkpoint FILE",
        "replay logs/1.jsonl --format events --out out --checkpoint ck --sink patches=FILE",
    ] {
        place.refuses_names("logs/1.jsonl", command);
    }
    fs::rename(place.path("logs/2.jsonl"), place.path("logs/1.jsonl.1")).unwrap();
    place.refuses_names("logs/1.jsonl.1", "replay logs/1.jsonl --follow --idle-exit 0 --out FILE");
    // The temporary file of the checkpoint.
    fs::copy(place.path("logs/1.jsonl"), place.path("ck.foldline-new")).unwrap();
    let checkpoint = "replay FILE --format events --out out --checkpoint ck";
    place.refuses_names("ck.foldline-new", checkpoint);
}

#[test]
fn an_export_writes_to_no_file_that_it_reads() {
    let place = Place::new();
    place.refuses_names("logs/1.jsonl", "export logs/1.jsonl --out FILE");
    fs::copy(place.path("logs/1.jsonl"), place.path("page.foldline-new")).unwrap();
    place.refuses_names("page.foldline-new", "export FILE --out page");
}

#[test]
fn a_replay_writes_no_file_twice() {
    let place = Place::new();
    for existing in [false, true] {
        if existing {
            fs::write(place.path("x"), "").unwrap();
        }
        for command in [
            "replay logs/1.jsonl --out x --sink metrics=FILE",
            "replay logs/1.jsonl --sink events=x --sink metrics=FILE",
            "replay logs/1.jsonl --format events --out x --checkpoint FILE",
            "replay logs/1.jsonl --format events --out out --checkpoint x --sink patches=FILE",
        ] {
            place.refuses_names("x", command);
        }
    }
}

#[test]
fn an_ingest_writes_to_no_file_that_it_reads() {
    let place = Place::new();
    for option in ["--db", "--audit", "--metrics", "--sink events=FILE --db"] {
        // A log that is named, and one that is found.
        for logs in ["logs/1.jsonl", "logs", "logs/1.jsonl --executor droid"] {
            place.refuses_names("logs/1.jsonl", &format!("ingest {logs} {option} FILE"));
        }
    }
    fs::rename(place.path("logs/1.jsonl"), place.path("logs/db-wal")).unwrap();
    place.refuses(&["ingest", "logs", "--db", "logs/db"]);
}

#[test]
fn an_ingest_writes_no_file_twice() {
    let place = Place::new();
    for name in ["db", "db-wal", "db-shm", "db-journal", "new", "new-wal"] {
        let db = if name.starts_with("db") { "db" } else { "new" };
        for option in ["--audit FILE", "--metrics FILE", "--sink events=FILE"] {
            place.refuses_names(name, &format!("ingest logs --db {db} {option}"));
        }
    }
    place.refuses_names("trail", "ingest logs --db db --audit trail --metrics FILE");
    place.refuses_names("trail", "ingest logs --db db --audit trail --sink events=FILE");
    place.refuses_names("m", "ingest logs --db db --metrics m --sink events=FILE");
    // The files next to a database are those next to the target of a link.
    symlink(place.path("db"), place.path("other-name")).unwrap();
    place.refuses(&["ingest", "logs", "--db", "other-name", "--metrics", "db-wal"]);
}

#[test]
fn outputs_in_the_folder_of_the_logs_are_not_read_as_logs() {
    let place = Place::new();
    let outputs = ["db", "trail", "m.prom", "events"].map(|name| format!("logs/{name}"));
    let [db, trail, metrics, events] = &outputs;
    let sink = format!("events={events}");
    let command =
        ["ingest", "logs", "--db", db, "--audit", trail, "--metrics", metrics, "--sink", &sink];
    place.ends_with(0, &command, "2 new");
    place.ends_with(0, &command, "skipped, written by this command: ");
    place.ends_with(0, &[&command[..], &["--executor", "droid"]].concat(), "2 unchanged");
}

/// A shell has opened the standard streams before the program begins.
#[test]
fn standard_streams_are_files_too() {
    let place = Place::new();
    let appending = |name: &str| OpenOptions::new().append(true).open(place.path(name)).unwrap();
    let refused = |command: &str, name: &str, to_stderr: bool| {
        let before = place.contents();
        let mut foldline = foldline();
        foldline.args(command.split(' ')).current_dir(place.0.path());
        match to_stderr {
            true => foldline.stderr(appending(name)),
            false => foldline.stdout(appending(name)),
        };
        assert_eq!(foldline.output().unwrap().status.code(), Some(2), "{command} to {name}");
        if !to_stderr {
            assert!(place.contents() == before, "{command} to {name}");
        }
    };
    for to_stderr in [false, true] {
        refused("replay logs/1.jsonl", "logs/1.jsonl", to_stderr);
        refused("ingest logs --db db", "logs/1.jsonl", to_stderr);
        refused("ingest logs --db db", "db", to_stderr);
        refused("ingest logs --db db --audit trail", "trail", to_stderr);
        refused("sessions --db db", "db", to_stderr);
        refused("prune --older-than 1d --db db", "db", to_stderr);
        refused("task set 1 task --db db", "db", to_stderr);
        refused("verify trail", "trail", to_stderr);
        refused("verify trail --source logs/1.jsonl", "logs/1.jsonl", to_stderr);
        refused("doctor logs", "logs/1.jsonl", to_stderr);
        refused("doctor logs/1.jsonl", "logs/1.jsonl", to_stderr);
    }
    // Both may be one file, and standard output may be unused.
    let both = fs::File::create(place.path("both")).unwrap();
    let mut replay = foldline();
    replay.args(["replay", "logs/1.jsonl"]).current_dir(place.0.path());
    replay.stdout(both.try_clone().unwrap()).stderr(both);
    assert!(replay.status().unwrap().success());
    let input = fs::File::open(place.path("logs/1.jsonl")).unwrap();
    let mut replay = foldline();
    replay.args(["replay", "-", "--out", "logs/1.jsonl"]).current_dir(place.0.path()).stdin(input);
    assert_eq!(replay.output().unwrap().status.code(), Some(2));
}

#[test]
fn devices_may_be_given_more_than_once() {
    let place = Place::new();
    let log = place.path("logs/1.jsonl");
    let log = log.to_str().unwrap();
    stdout(&["replay", log, "--out", "/dev/null", "--sink", "metrics=/dev/null"]);
}
