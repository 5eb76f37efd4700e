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
