//! Files that the program writes contain conversations: they are readable by their owner only.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Command,
};

use crate::logs::droid;

const COMMANDS: [&[&str]; 4] = [
    &["export", "log", "--out", "page"],
    &["ingest", "log", "--db", "db", "--audit", "trail", "--metrics", "m", "--sink", "events=e"],
    &["replay", "log", "--out", "text", "--sink", "metrics=counters"],
    &[
        "replay",
        "log",
        "--out",
        "o",
        "--format",
        "events",
        "--checkpoint",
        "c",
        "--sink",
        "patches=p",
    ],
];

fn run_all(folder: &Path) {
    for command in COMMANDS {
        let mut shell = Command::new("sh");
        shell.args(["-c", "umask 0; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_foldline")]);
        let output = shell.args(command).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
    }
}

/// The permissions of all that was written.
fn modes(folder: &Path) -> BTreeMap<String, u32> {
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let written = files.filter(|file| file.file_name() != "log");
    let mode = |file: &fs::DirEntry| file.metadata().unwrap().permissions().mode() & 0o777;
    written.map(|file| (file.file_name().into_string().unwrap(), mode(&file))).collect()
}

#[test]
fn new_files_are_for_their_owner_and_others_keep_their_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("log"), droid("session", 3, 1)).unwrap();
    run_all(folder);
    let written = modes(folder);
    let names: Vec<_> = written.keys().map(String::as_str).collect();
    assert_eq!(names, ["c", "counters", "db", "e", "m", "o", "p", "page", "text", "trail"]);
    assert!(written.values().all(|mode| *mode == 0o600), "{written:?}");
    for name in written.keys() {
        fs::set_permissions(folder.join(name), Permissions::from_mode(0o644)).unwrap();
    }
    // More to be written.
    fs::write(folder.join("log"), droid("session", 5, 1)).unwrap();
    fs::remove_file(folder.join("c")).unwrap();
    for output in ["o", "p"] {
        fs::write(folder.join(output), "").unwrap();
    }
    run_all(folder);
    let mut written = modes(folder);
    assert_eq!(written.remove("c"), Some(0o600));
    assert!(written.values().all(|mode| *mode == 0o644), "{written:?}");
}
