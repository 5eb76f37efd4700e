//! A long log is read on two threads: its outputs are those that one thread gives.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// More than the size from which two threads are used.
const LONG: usize = 1200 << 10;

/// The longest log of each format.
fn fixtures() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let folders = fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path());
    let longest = |folder: PathBuf| {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let logs =
            files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        logs.max_by_key(|path| fs::metadata(path).unwrap().len())
    };
    folders.filter(|path| path.is_dir()).filter_map(longest).collect()
}

fn replay(arguments: &[&str], stdin: Stdio, log: &str) -> (Option<i32>, Vec<u8>) {
    let mut foldline = Command::new(env!("CARGO_BIN_EXE_foldline"));
    let foldline = foldline.arg("replay").args(arguments).env("RUST_LOG", log).stdin(stdin);
    let output = foldline.output().unwrap();
    (output.status.code(), output.stdout)
}

#[test]
fn they_give_what_one_gives() {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = fixtures();
    assert!(fixtures.len() > 10, "{fixtures:?}");
    for fixture in fixtures {
        let session = fs::read(&fixture).unwrap();
        let log = folder.path().join("log.jsonl");
        fs::write(&log, session.repeat(LONG.div_ceil(session.len()))).unwrap();
        let log = log.to_str().unwrap();
        for format in ["events", "transcript"] {
            // One thread, as the lines of `tracing` want it.
            let one = replay(&[log, "--format", format], Stdio::null(), "foldline=info");
            let two = replay(&[log, "--format", format], Stdio::null(), "off");
            assert!(!one.1.is_empty() && one == two, "{} as {format}", fixture.display());
        }
        // The name of a file may state the session, so both read standard input.
        let [one, two] = ["foldline=info", "off"].map(|told| {
            let piped = Stdio::from(File::open(log).unwrap());
            replay(&["-", "--format", "patches"], piped, told)
        });
        assert!(one == two, "{} through standard input", fixture.display());
    }
}
