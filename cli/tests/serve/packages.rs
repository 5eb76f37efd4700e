//! Packages of npm, where they can be had.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

/// A copy of a folder of this package, with the packages of npm that it asks for; where they cannot be had, it is
/// said why.
pub(crate) fn packages(from: &str) -> Option<TempDir> {
    let folder = TempDir::new().unwrap();
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(from)).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]);
    // Without a network, nobody waits for minutes.
    npm.args(["--fetch-retries=1", "--fetch-timeout=20000"]);
    match npm.current_dir(folder.path()).output() {
        Err(error) => println!("skipped: there is no npm here: {error}"),
        Ok(Output { status, stderr, .. }) if !status.success() => {
            println!("skipped: npm cannot install: {}", String::from_utf8_lossy(&stderr));
        }
        Ok(_) => return Some(folder),
    }
    None
}
