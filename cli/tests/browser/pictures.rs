//! Pictures of prompts and results, on the page of the server and in an exported file.

use std::fs;

use serde_json::json;

use crate::{
    client::{Server, folder},
    driver::{Browser, Screen},
};

/// A prompt with a picture, and the result of a tool that is one.
fn log() -> String {
    let gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": gif}});
    let line = |kind: &str, id: &str, content| {
        json!({"type": kind, "sessionId": "s", "uuid": id, "timestamp": "2026-03-01T10:00:00Z", "cwd": "/srv/x",
            "version": "2.1.62", "message": {"role": kind, "content": content}})
        .to_string()
            + "\n"
    };
    [
        line("user", "1", json!([{"type": "text", "text": "What is this?"}, image])),
        line(
            "assistant",
            "2",
            json!([{"type": "tool_use", "id": "c", "name": "Read", "input": {"file_path": "/a.gif"}}]),
        ),
        line("user", "3", json!([{"type": "tool_result", "tool_use_id": "c", "content": [image]}])),
    ]
    .concat()
}

const ARE_SHOWN: &str = "(() => { const all = [...document.querySelectorAll('.pictures img')]; \
     all.forEach(img => img.loading = 'eager'); \
     return all.length === 2 && all.every(img => img.complete && img.naturalWidth === 1); })()";

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn a_picture_is_shown_with_its_prompt() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), log()).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}sessions/s", server.link));
    browser.until(ARE_SHOWN);
    assert_eq!(browser.get("document.querySelectorAll('[data-turn]').length"), json!(1));
    assert_eq!(browser.get("document.querySelectorAll('#e0 img').length"), json!(1));
    assert_eq!(browser.reports(), [""; 0]);
    for none in ["0.1", "9.0", "0", "x.y"] {
        assert_eq!(server.get(&format!("/sessions/s?picture={none}")).status, 404, "{none}");
    }
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn a_picture_is_in_the_exported_file() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    let path = logs.join("log.jsonl");
    fs::write(&path, log()).unwrap();
    browser.open_export(&path);
    browser.until(ARE_SHOWN);
    assert_eq!(browser.reports(), [""; 0]);
}
