//! The colours of code, and the choice of one tool, on the page of the server and in an exported file.

use std::fs;

use serde_json::json;

use crate::{
    client::{Server, folder},
    driver::{Browser, Screen},
};

/// An answer with code, a written file, a file that was read, and a command.
fn log() -> String {
    let line = |kind: &str, id: &str, content| {
        json!({"type": kind, "sessionId": "s", "uuid": id, "timestamp": "2026-03-01T10:00:00Z", "cwd": "/srv/x",
            "version": "2.1.62", "message": {"role": kind, "content": content}})
        .to_string()
            + "\n"
    };
    let call = |id: &str, name: &str, input| {
        line("assistant", id, json!([{"type": "tool_use", "id": id, "name": name, "input": input}]))
    };
    let result = |id: &str, text: &str| {
        let content = json!([{"type": "tool_result", "tool_use_id": id, "content": text}]);
        line("user", &format!("of {id}"), content)
    };
    let code = "/* of two\nlines */ fn main() { print(\"a \\\" b\", 12); } // let";
    [
        line("user", "1", json!("Write it.")),
        line(
            "assistant",
            "2",
            json!([{"type": "text", "text": "So:\n\n```sql\nselect 1 -- one\n```"}]),
        ),
        call("w", "Write", json!({"file_path": "/srv/x/main.rs", "content": code})),
        result("w", "written"),
        call("r", "Read", json!({"file_path": "/srv/x/a.py"})),
        result("r", "     1→def f(): return None  # nothing"),
        call("b", "Bash", json!({"command": "ls"})),
        result("b", "a.py"),
    ]
    .concat()
}

/// The coloured words of a kind, in their order.
fn coloured(kind: &str) -> String {
    format!(
        "[...CSS.highlights.get('code-{kind}')].map((it) => {{ const range = new Range(); \
         range.setStart(it.startContainer, it.startOffset); range.setEnd(it.endContainer, it.endOffset); \
         return range.toString(); }})"
    )
}

fn is_coloured_and_filtered(browser: &Browser) {
    browser.until("CSS.highlights.get('code-keyword').size === 2");
    assert_eq!(browser.get(&coloured("keyword")), json!(["select", "fn"]));
    assert_eq!(browser.get(&coloured("string")), json!(["\"a \\\" b\""]));
    assert_eq!(browser.get(&coloured("number")), json!(["1", "12"]));
    let comments = json!(["-- one", "/* of two\n+lines */", "// let"]);
    assert_eq!(browser.get(&coloured("comment")), comments);
    // What is folded is coloured when it is opened, and not when it is folded again.
    browser.click("[data-action='file_read'] summary");
    browser.until("CSS.highlights.get('code-keyword').size === 5");
    browser.click("[data-action='file_read'] summary");
    browser.until("CSS.highlights.get('code-keyword').size === 2");
    // One tool.
    let shown = "[...document.querySelectorAll('#feed .entry')].filter((it) => it.checkVisibility()) \
                 .map((it) => it.dataset.tool ?? it.dataset.type).join()";
    assert_eq!(browser.get(shown), json!("user_message,assistant_message,Write,Read,Bash"));
    browser.click("#side [data-tool='Read']");
    assert_eq!(browser.get(shown), json!("Read"));
    let pressed = "[...document.querySelectorAll('#side [aria-pressed=true]')].map((it) => it.textContent).join()";
    assert_eq!(browser.get(pressed), json!("Read"));
    browser.click(".seg .only");
    assert_eq!(browser.get(shown), json!("user_message,assistant_message,Write,Read,Bash"));
    assert_eq!(browser.get(pressed), json!(""));
    let counts = "document.querySelector('.top .seg').textContent";
    assert_eq!(browser.get(counts), json!("ShowAllTalkAnswersCalls3Failures0"));
    // Of what was said only the last, with what it answers.
    browser.click(".seg [value=answers]");
    assert_eq!(browser.get(shown), json!("user_message,assistant_message"));
    assert_eq!(browser.reports(), [""; 0]);
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn code_is_coloured_and_one_tool_is_shown_by_the_server() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    let path = logs.join("log.jsonl");
    fs::write(&path, log()).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}sessions/s", server.link));
    is_coloured_and_filtered(&browser);
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn code_is_coloured_and_one_tool_is_shown_in_a_file() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    let path = logs.join("log.jsonl");
    fs::write(&path, log()).unwrap();
    browser.open_export(&path);
    is_coloured_and_filtered(&browser);
}
