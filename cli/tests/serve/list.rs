//! What the list says of each session, and the charts above it.

use std::fs;

use serde_json::json;

use super::client::{Server, append, folder, until};

/// Lines of a session of Claude Code.
fn line(session: &str, kind: &str, id: &str, content: &serde_json::Value) -> String {
    json!({"type": kind, "sessionId": session, "uuid": format!("{session}{id}"), "version": "2.1.62",
        "cwd": "/srv/x", "timestamp": jiff::Timestamp::now().to_string(),
        "message": {"role": kind, "id": format!("msg-{session}{id}"), "model": "claude-opus-4-6", "content": content,
            "usage": {"input_tokens": 1000, "output_tokens": 10}}})
    .to_string()
        + "\n"
}

#[test]
fn a_search_marks_the_words_and_links_the_entry() {
    let (_folder, logs) = folder();
    let log = line("s", "user", "1", &json!("Look at the harbour"))
        + &line(
            "s",
            "assistant",
            "2",
            &json!([{"type": "text", "text": "The lighthouse <is> lit."}]),
        );
    fs::write(logs.join("log.jsonl"), log).unwrap();
    let server = Server::start(&logs, &[]);
    until("it is in the list", || server.body("/").contains("Look at the harbour"));
    let rows = server.body("/rows?q=lighthouse");
    let found = "<mark>lighthouse</mark> &lt;is&gt; lit.";
    assert!(rows.contains(found) && rows.contains("href=\"/sessions/s?at="), "{rows}");
    assert!(!server.body("/rows").contains("<mark>"));
}

#[test]
fn a_running_call_is_below_the_title_and_choices_have_counts() {
    let (_folder, logs) = folder();
    let call = json!([{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "cargo test -p reed"}}]);
    let log = logs.join("log.jsonl");
    append(
        &log,
        &(line("s", "user", "1", &json!("Mend it")) + &line("s", "assistant", "2", &call)),
    );
    let server = Server::start(&logs, &[]);
    until("the call is in the list", || {
        server.body("/rows").contains("<span class=\"sub\">Bash: cargo test -p reed</span>")
    });
    let list = server.body("/");
    assert!(
        list.contains("Running<small>1</small>") && list.contains("Failed<small>0</small>"),
        "{list}"
    );
    assert!(list.contains("1 session by 1 agent in 1 project, times in "), "{list}");
}

#[test]
fn each_session_has_its_own_entries() {
    let (_folder, logs) = folder();
    let call = json!([{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "c", "content": "a"}]);
    for session in ["s", "t", "u"] {
        let log = line(session, "assistant", "1", &call) + &line(session, "user", "2", &result);
        fs::write(logs.join(format!("{session}.jsonl")), log).unwrap();
    }
    let server = Server::start(&logs, &[]);
    until("all are in the list", || server.body("/rows").matches("<tr data-state").count() == 3);
    for session in ["s", "t", "u"] {
        let path = format!("/sessions/{session}");
        until("its call has ended", || server.body(&path).contains("data-status=\"success\""));
        let page = server.body(&path);
        assert!(page.contains("id=\"e0\"") && !page.contains("id=\"e2\""), "{page}");
    }
}

#[test]
fn a_session_that_asks_waits() {
    let (_folder, logs) = folder();
    let asked =
        json!({"questions": [{"question": "Which port?", "header": "Port", "options": []}]});
    let call = json!([{"type": "tool_use", "id": "c", "name": "AskUserQuestion", "input": asked}]);
    append(&logs.join("log.jsonl"), &line("s", "assistant", "1", &call));
    let runs = json!([{"type": "text", "text": "I look."}]);
    append(&logs.join("other.jsonl"), &line("t", "assistant", "2", &runs));
    let server = Server::start(&logs, &[]);
    let asks = "<span class=\"sub ask\">AskUserQuestion asks: Which port?</span>";
    until("it asks", || server.body("/rows").contains(asks));
    let list = server.body("/");
    assert!(list.contains("Waiting<small>1</small>"), "{list}");
    let waiting: serde_json::Value =
        serde_json::from_str(&server.body("/api/sessions?status=waiting")).unwrap();
    assert_eq!(waiting.as_array().map(Vec::len), Some(1));
    assert_eq!((&waiting[0]["session"], &waiting[0]["status"]), (&json!("s"), &json!("waiting")));
}

#[test]
fn a_session_without_a_prompt_has_the_first_words_of_its_agent() {
    let (_folder, logs) = folder();
    let said = json!([{"type": "text", "text": "The index is rebuilt.\nAll is well."}]);
    fs::write(logs.join("log.jsonl"), line("s", "assistant", "1", &said)).unwrap();
    let server = Server::start(&logs, &[]);
    until("it has a name", || server.body("/rows").contains(">The index is rebuilt.</a>"));
    assert!(server.body("/sessions/s").contains("<h1 dir=\"auto\">The index is rebuilt.</h1>"));
}

#[test]
fn the_charts_are_those_of_the_last_days_with_use() {
    let (_folder, logs) = folder();
    let said = json!([{"type": "text", "text": "Done"}]);
    let log = line("s", "assistant", "1", &said);
    let day = &jiff::Timestamp::now().to_string()[..10];
    fs::write(logs.join("log.jsonl"), log.replace(day, "2025-02-03")).unwrap();
    let server = Server::start(&logs, &["--timezone", "UTC"]);
    until("the chart has the day", || server.body("/charts").contains("2025-02-03"));
    let charts = server.body("/charts");
    assert!(charts.contains("Cost, all time") && charts.contains("Tokens, all time"), "{charts}");
    // They lead to the usage of the same time.
    assert!(charts.contains("href=\"/usage\""), "{charts}");
    assert!(server.body("/usage").contains("href=\"/usage\" aria-current=\"true\">all time"));
    let week = server.body("/usage?time=7d");
    assert!(week.contains("href=\"/usage?time=7d\" aria-current=\"true\">7 days"));
}

#[test]
fn an_address_opens_the_same_session_in_a_database_that_was_built_again() {
    let (_folder, logs) = folder();
    let path = |name: &str| logs.join(name).with_extension("jsonl");
    let names = ["one", "two", "three"];
    // Two logs state one id. Their times, which order them, are the same when they are written again.
    let log = |name: &str| {
        let session = if name == "one" { "s" } else { "t" };
        line(session, "user", name, &json!(format!("Title {name}")))
    };
    let written = names.map(|name| (name, log(name)));
    let state = |name: &str| {
        let (_, text) = written.iter().find(|(written, _)| *written == name).unwrap();
        fs::write(path(name), text).unwrap();
    };
    let addresses = |server: &Server| {
        until("all are listed", || server.body("/rows").matches("<tr data-state").count() == 3);
        let listed: serde_json::Value =
            serde_json::from_str(&server.body("/api/sessions")).unwrap();
        let listed = listed.as_array().unwrap().iter().map(|session| {
            (
                session["title"].as_str().unwrap().to_owned(),
                session["path"].as_str().unwrap().to_owned(),
            )
        });
        listed.collect::<std::collections::BTreeMap<_, _>>()
    };
    let (database, server) = (logs.with_extension("db"), {
        names.into_iter().for_each(state);
        Server::start(&logs, &[])
    });
    let first = addresses(&server);
    drop(server);
    fs::remove_file(&database).unwrap();
    for name in names {
        fs::remove_file(path(name)).unwrap();
    }
    state("three");
    let server = Server::start(&logs, &[]);
    until("one is listed", || server.body("/rows").contains("Title three"));
    ["two", "one"].into_iter().for_each(state);
    assert_eq!(addresses(&server), first);
    assert_eq!(first["Title one"], "/sessions/s");
    for (title, path) in first {
        assert!(server.body(&path).contains(&format!("<h1 dir=\"auto\">{title}</h1>")), "{path}");
    }
    assert_eq!(server.get("/sessions/1").status, 404);
}

#[test]
fn what_goes_on_is_above_the_list_and_agrees_with_its_counts() {
    let (_folder, logs) = folder();
    let call = |name: &str, input: serde_json::Value| json!([{"type": "tool_use", "id": "c", "name": name, "input": input}]);
    let asks = call(
        "AskUserQuestion",
        json!({"questions": [{"question": "Which colour?", "options": []}]}),
    );
    for (session, call) in [("s", call("Bash", json!({"command": "ls"}))), ("t", asks)] {
        let log =
            line(session, "user", "1", &json!("Do it")) + &line(session, "assistant", "2", &call);
        fs::write(logs.join(format!("{session}.jsonl")), log).unwrap();
    }
    let server = Server::start(&logs, &[]);
    until("both run", || server.body("/now").contains("data-running=\"2\" data-waiting=\"1\""));
    let now = server.body("/now");
    assert!(now.contains("<b>1</b> waiting") && now.contains("<b>2</b> running"), "{now}");
    assert!(now.contains("<b>≈ $0.01</b> today<small>2.0k tokens</small>"), "{now}");
    let list = server.body("/");
    assert!(list.contains("<b>2</b> running") && list.contains("data-asks=\"1\""), "{list}");
    assert!(list.contains("Running<small>2</small>"), "{list}");
    until("the page of the session waits", || {
        server.body("/sessions/t").contains("id=\"state\">waiting</span>")
    });
    assert!(server.body("/sessions/s").contains("id=\"state\">running</span>"));
    let others = server.body("/others");
    assert!(
        others.contains("href=\"/sessions/s\"") && others.contains("href=\"/sessions/t\""),
        "{others}"
    );
    assert!(server.body("/icon-waiting.svg").starts_with("<svg"));
    // A view is in the address.
    let answers = server.body("/sessions/s?show=answers");
    assert!(
        answers.contains("data-show=\"answers\"") && answers.contains("value=\"answers\" checked")
    );
}

#[test]
fn serving_begins_without_a_home_and_finds_one_that_comes() {
    let home = tempfile::tempdir().unwrap();
    let mut command = crate::logs::foldline();
    command.env("HOME", home.path()).args(["serve", "--listen", "127.0.0.1:0"]);
    let server = Server::of(command);
    assert!(server.body("/").contains("No sessions yet"));
    let logs = home.path().join(".claude/projects/x");
    fs::create_dir_all(&logs).unwrap();
    fs::write(logs.join("s.jsonl"), line("s", "user", "1", &json!("Do it"))).unwrap();
    until("it is found", || server.body("/rows").contains("Do it"));
}
