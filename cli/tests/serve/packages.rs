//! Packages of npm.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

/// A copy of a folder of this package, with the packages of npm that it asks for.
pub(crate) fn packages(from: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(from)).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]);
    // Without a network, the test must not wait for minutes.
    npm.args(["--fetch-retries=1", "--fetch-timeout=20000"]);
    let Output { status, stderr, .. } = npm.current_dir(folder.path()).output().expect("npm runs");
    assert!(status.success(), "npm cannot install: {}", String::from_utf8_lossy(&stderr));
    folder
}
