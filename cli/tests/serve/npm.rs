//! Clients that share no code with the server: libraries of others, in Node.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use super::{
    client::{Server, answered, folder},
    logs::stdout,
    packages::packages,
};

#[test]
#[cfg_attr(not(has_registries), ignore = "needs npm and its registry (FOLDLINE_TEST_ALL=1)")]
fn two_other_libraries_make_the_document_of_a_replay() {
    let packages = packages("tests/serve/npm");
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

#[test]
#[cfg_attr(not(has_registries), ignore = "needs npm and its registry (FOLDLINE_TEST_ALL=1)")]
fn a_strict_validator_accepts_the_schemas_and_what_they_describe() {
    let packages = packages("tests/serve/npm");
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), answered(20, 7)).unwrap();
    let server = Server::start(&logs, &[]);
    let save = |name: &str, path: &str| {
        fs::write(packages.path().join(name), server.body(path)).unwrap();
    };
    save("document.json", "/api/sessions/session");
    save("sessions.json", "/api/sessions");
    save("schema.json", "/api/schema.json");
    let fleet =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fleet/src/messages/messages.schema.json");
    fs::copy(fleet, packages.path().join("fleet.json")).unwrap();
    let check = |arguments: &[&str]| {
        let mut node = Command::new("node");
        let said = node.current_dir(packages.path()).arg("schema.js").args(arguments).output();
        let said = said.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(said.status.success(), "{}{}", text(&said.stdout), text(&said.stderr));
    };
    check(&["schema.json", "Conversation", "document.json", "ListedSession", "sessions.json"]);
    check(&["fleet.json"]);

    // Each schema of one type is whole, and describes what is printed.
    let log = logs.join("log.jsonl");
    for (name, kind, format) in [
        ("event", "LocatedEvent", "events"),
        ("patch", "NumberedPatch", "patches"),
        ("conversation", "Conversation", "conversation"),
    ] {
        let printed = stdout(&["replay", log.to_str().unwrap(), "--format", format]);
        let documents = serde_json::Deserializer::from_str(&printed).into_iter::<Value>();
        let documents: Vec<_> = documents.map(Result::unwrap).collect();
        fs::write(packages.path().join("printed.json"), Value::from(documents).to_string())
            .unwrap();
        fs::write(packages.path().join("one.json"), stdout(&["schema", name])).unwrap();
        check(&["one.json", kind, "printed.json"]);
    }
}
