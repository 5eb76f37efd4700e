//! What can be done with a session on its page: export, and resume.

use std::fs;

use super::client::{Server, folder, until};

const LOG: &str = concat!(
    r#"{"type":"user","sessionId":"0f-1","uuid":"1","timestamp":"2026-03-01T12:00:05Z","version":"2.1.62","cwd":"/srv/a b","message":{"role":"user","content":"See https://example.org/x."}}"#,
    "\n",
    r#"{"type":"assistant","sessionId":"0f-1","uuid":"2","timestamp":"2026-03-01T12:00:07Z","version":"2.1.62","cwd":"/srv/a b","message":{"role":"assistant","content":[{"type":"text","text":"Done, ada@example.org"}]}}"#,
    "\n"
);

#[test]
fn a_session_is_exported_and_resumed_from_its_page() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), LOG).unwrap();
    let server = Server::start(&logs, &["--timezone", "Asia/Tokyo"]);
    until("it is there", || server.get("/sessions/0f-1").status == 200);
    let page = server.body("/sessions/0f-1");
    let command = "data-copy=\"cd '/srv/a b' &amp;&amp; claude --resume 0f-1\"";
    assert!(page.contains(command) && page.contains("action=\"/sessions/0f-1/export\""), "{page}");
    assert!(page.contains("href=\"https://example.org/x\">https://example.org/x</a>."), "{page}");
    let file = server.get("/sessions/0f-1/export");
    assert!(file.head.contains("content-disposition: attachment; filename=\"0f-1.html\""));
    let is_alone = file.body.contains("data-page=\"export\"") && !file.body.contains("?explain=");
    assert!(is_alone && file.body.contains("21:00:05"), "{}", file.body);
    assert_eq!(server.get("/sessions/9/export").status, 404);
    let redacted = server.get("/sessions/0f-1/export?format=md&redact=true");
    assert!(redacted.head.contains("filename=\"0f-1.md\""), "{}", redacted.head);
    assert!(
        redacted.body.contains("See https://example.org/x.") && redacted.body.contains("[email 1]"),
        "{}",
        redacted.body
    );
    assert!(server.body("/sessions/0f-1/export?format=md").contains("ada@example.org"));
    let json: serde_json::Value =
        serde_json::from_str(&server.body("/sessions/0f-1/export?format=json")).unwrap();
    assert_eq!(json["entries"].as_array().unwrap().len(), 2);
}

#[test]
fn all_changes_of_a_session_are_on_one_page() {
    let (_folder, logs) = folder();
    let call = |id: &str, name: &str, input: serde_json::Value| {
        let line = |kind: &str, content: serde_json::Value| {
            serde_json::json!({"type": kind, "sessionId": "s", "uuid": format!("{id}{kind}"), "cwd": "/srv/x", "version": "2.1.62",
                "timestamp": "2026-03-01T12:00:05Z", "message": {"role": kind, "content": content}})
            .to_string()
                + "\n"
        };
        line(
            "assistant",
            serde_json::json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
        ) + &line(
            "user",
            serde_json::json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]),
        )
    };
    let log = call(
        "1",
        "Write",
        serde_json::json!({"file_path": "/srv/x/a b.rs", "content": "one\n<two>\n"}),
    ) + &call(
        "2",
        "Edit",
        serde_json::json!({"file_path": "/srv/x/a b.rs", "old_string": "one", "new_string": "three"}),
    );
    fs::write(logs.join("log.jsonl"), log).unwrap();
    let server = Server::start(&logs, &[]);
    until("it is there", || server.get("/sessions/s").status == 200);
    let page = server.body("/sessions/s");
    assert!(
        page.contains("href=\"?view=changes\"") && page.contains("href=\"?view=changes#a b.rs\""),
        "{page}"
    );
    let changes = server.body("/sessions/s?view=changes");
    for part in [
        "id=\"a b.rs\"",
        "id=\"/srv/x/a b.rs\"",
        "+&lt;two&gt;",
        "<div class=\"run\"><del",
        "+3",
        "−1",
    ] {
        assert!(changes.contains(part), "{part}: {changes}");
    }
    assert!(!server.body("/sessions/s/export").contains("view=changes"));
    assert_eq!(server.get("/sessions/none?view=changes").status, 404);
}
