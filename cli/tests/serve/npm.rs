//! Clients that share no code with the server: libraries of others, in Node.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

use crate::{
    client::{Server, answered, folder},
    logs::stdout,
};

/// A folder with a script and the packages that it needs, where they can be had.
pub(crate) fn packages(manifest: &str, script: &str) -> Option<TempDir> {
    let folder = TempDir::new().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve/npm");
    fs::copy(from.join(manifest), folder.path().join("package.json")).unwrap();
    fs::copy(from.join(script), folder.path().join(script)).unwrap();
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]);
    match npm.current_dir(folder.path()).output() {
        Err(error) => println!("skipped: there is no npm here: {error}"),
        Ok(Output { status, stderr, .. }) if !status.success() => {
            println!("skipped: npm cannot install: {}", String::from_utf8_lossy(&stderr));
        }
        Ok(_) => return Some(folder),
    }
    None
}

#[test]
fn two_other_libraries_make_the_document_of_a_replay() {
    let Some(packages) = packages("package.json", "patches.js") else { return };
    let (_folder, logs) = folder();
    let whole = answered(60, 7);
    let (begun, rest) = whole.split_at(whole.find('\n').unwrap() + 1);
    let path = |name: &str| packages.path().join(name);
    fs::write(path("whole.jsonl"), &whole).unwrap();
    let replayed =
        stdout(&["replay", path("whole.jsonl").to_str().unwrap(), "--format", "conversation"]);
    fs::write(path("expected.json"), replayed).unwrap();
    fs::write(path("rest"), rest).unwrap();
    let log = logs.join("log.jsonl");
    fs::write(&log, begun).unwrap();
    let server = Server::start(&logs, &[]);
    let mut node = Command::new("node");
    node.current_dir(packages.path()).args(["patches.js", &server.address]);
    node.arg(&log).args(["rest", "expected.json", "200", "11"]);
    let said = node.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(said.status.success(), "{}{}", text(&said.stdout), text(&said.stderr));
    println!("{}", text(&said.stdout));
}
