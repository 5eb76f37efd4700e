//! `foldline run --serve`: the session of an agent, while it works.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::{
    agent::Run,
    client::{Event, answered},
    logs::{droid, foldline, stdout},
};

/// A log in two parts.
fn parts(log: &str) -> (&str, &str) {
    log.split_at(log.match_indices('\n').nth(9).unwrap().0 + 1)
}

fn apply(document: &mut Value, event: &Event) {
    match &*event.name {
        "snapshot" => *document = serde_json::from_str(&event.data).unwrap(),
        "patch" => {
            let patch: json_patch::Patch = serde_json::from_str(&event.data).unwrap();
            json_patch::patch(document, &patch).unwrap();
        }
        "end" => {}
        name => panic!("unknown event {name}"),
    }
}

#[test]
fn who_looks_on_has_everything_when_the_agent_has_ended() {
    let folder = TempDir::new().unwrap();
    // Calls that are open in the end are ended with the log.
    let log = droid("session", 20, 3);
    let (begun, rest) = parts(&log);
    let mut run = Run::start(folder.path(), &["--log", "log", "--db", "db"]);
    run.print(begun);
    run.is_there();
    let mut patches = run.server.events("/api/sessions/session/patches", None);
    let mut page = run.server.events("/sessions/session/fragments", None);
    let mut document = Value::Null;
    apply(&mut document, &patches.next());
    page.next();
    run.print(rest);
    assert_eq!(run.end(), Some(0));
    let rest = patches.rest();
    rest.iter().for_each(|event| apply(&mut document, event));
    assert_eq!(rest.last().unwrap().name, "end");
    let log = folder.path().join("log");
    let replayed = stdout(&["replay", log.to_str().unwrap(), "--format", "conversation"]);
    assert_eq!(document, serde_json::from_str::<Value>(&replayed).unwrap());
    let last = |name: &str, events: &[Event]| {
        events.iter().rfind(|event| event.name == name).unwrap().data.clone()
    };
    let rest = page.rest();
    assert_eq!(last("status", &rest), "done");
    assert!(last("facts", &rest).contains("20 turns"));
    assert_eq!(rest.last().unwrap().name, "end");
    assert!(folder.path().join("db").exists());
}

#[test]
fn nothing_is_left_that_nobody_asked_for() {
    let folder = TempDir::new().unwrap();
    let log = answered(5, 1);
    let mut run = Run::start(folder.path(), &["--executor", "droid"]);
    run.print(&log);
    run.is_there();
    assert_eq!(run.end(), Some(0));
    let runs = fs::read_dir(folder.path().join(".local/share/foldline/runs")).unwrap();
    let runs: Vec<_> = runs.map(|it| it.unwrap().path()).collect();
    // The log is the output of the agent, and is never lost.
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(fs::read_to_string(&runs[0]).unwrap(), log);
}

#[test]
fn the_same_may_look_on_as_may_ask_a_server() {
    let folder = TempDir::new().unwrap();
    let run = Run::start(folder.path(), &["--token"]);
    let (_, token) = run.server.link.split_once("?token=").unwrap();
    assert_eq!(run.server.get("/").status, 401);
    assert_eq!(run.server.get(&format!("/?token={token}")).status, 200);
    assert_eq!(run.server.ask("GET", "/", &[("Host", "evil.example")]).status, 421);
    run.end();
    // An address in use is reported before the agent starts.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = foldline();
    command.env("HOME", folder.path()).current_dir(folder.path());
    let refused =
        command.args(["run", "--serve", &address, "--", "touch", "begun"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("cannot listen"));
    assert!(!folder.path().join("begun").exists());
    let wrong = foldline().args(["run", "--token", "--", "true"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}
