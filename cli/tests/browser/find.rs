//! Words are found, marked, counted, and reached one by one: on the page of the server, and in an exported file.

use std::fs;

use serde_json::json;

use crate::{
    client::{Server, folder},
    driver::{Browser, Screen},
};

const ENTER: char = '\u{e007}';

/// Prompts with numbers, and answers of which every tenth mentions a lighthouse twice, once in other letters.
fn log(turns: usize) -> String {
    let line = |kind: &str, id: usize, text: String| {
        json!({"type": kind, "sessionId": "s", "uuid": id.to_string(), "timestamp": "2026-03-01T10:00:00Z",
            "cwd": "/srv/x", "version": "2.1.62",
            "message": {"role": kind, "content": [{"type": "text", "text": text}]}})
        .to_string()
            + "\n"
    };
    let turn = |n: usize| {
        let answer = match n % 10 {
            3 => format!("The *light*house {n} is a LIGHTHOUSE."),
            _ => format!("Nothing at {n}."),
        };
        line("user", 2 * n, format!("Prompt {n}")) + &line("assistant", 2 * n + 1, answer)
    };
    (0..turns).map(turn).collect()
}

const HITS: &str = "document.querySelector('#find .hits').textContent";

/// The marked words, and the one that the reader is at.
fn marked(browser: &Browser) -> (serde_json::Value, serde_json::Value) {
    let text = |name: &str| {
        browser.get(&format!("[...CSS.highlights.get('{name}')].map((range) => range.toString())"))
    };
    (text("found"), text("found-here"))
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn the_page_of_the_server_marks_what_it_finds() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), log(600)).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}sessions/s", server.link));
    browser.press(['/']);
    browser.press("lighthouse".chars());
    browser.press([ENTER]);
    browser.until(&format!("{HITS} === '1 of 60'"));
    // It was in a part that had not been loaded.
    browser.until("document.querySelector('#e7') !== null");
    assert_eq!(marked(&browser).1, json!(["lighthouse"]));
    browser.press([ENTER]);
    browser.until("[...CSS.highlights.get('found-here')][0].toString() === 'LIGHTHOUSE'");
    assert_eq!(browser.get(HITS), json!("1 of 60"));
    browser.press([ENTER]);
    browser.until(&format!("{HITS} === '2 of 60'"));
    let in_view = "(() => { const box = [...CSS.highlights.get('found-here')][0].getBoundingClientRect(); \
        return box.top > 0 && box.bottom < innerHeight; })()";
    browser.until(in_view);
    browser.press("x".chars());
    browser.press([ENTER]);
    browser.until(&format!("{HITS} === 'none'"));
    assert_eq!(browser.reports(), [""; 0]);
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn an_exported_file_finds_and_filters_alone() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    let path = logs.join("log.jsonl");
    fs::write(&path, log(40)).unwrap();
    browser.open_export(&path);
    browser.press(['/']);
    browser.press("lighthouse".chars());
    browser.until(&format!("{HITS} === '8'"));
    browser.press([ENTER]);
    browser.until(&format!("{HITS} === '1 of 8'"));
    assert_eq!(marked(&browser).1, json!(["lighthouse"]));
    browser.run("document.querySelector('[name=show][value=calls]').click()");
    browser.until("!document.querySelector('.entry').checkVisibility()");
    assert_eq!(browser.reports(), [""; 0]);
}
