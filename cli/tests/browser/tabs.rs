//! Many tabs of one browser, which has six connections to a server.

use std::{collections::BTreeSet, path::PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::{
    client::{Server, answered, append, folder},
    driver::{Browser, Screen},
};

/// A server with the first half of a session.
struct HalfSession {
    server: Server,
    log: PathBuf,
    rest: String,
    _folder: TempDir,
}

impl HalfSession {
    fn start() -> Self {
        let (folder, logs) = folder();
        let log = logs.join("log.jsonl");
        let content = answered(20, 7);
        let (first, rest) = content.split_at(content[..content.len() / 2].rfind('\n').unwrap() + 1);
        append(&log, first);
        Self { server: Server::start(&logs, &[]), log, rest: rest.to_owned(), _folder: folder }
    }

    fn add_rest(&self) {
        append(&self.log, &self.rest);
    }
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn twenty_tabs_are_alive() {
    let browser = Browser::start(Screen::Desk);
    let session = HalfSession::start();
    browser.open(&format!("{}sessions/session", session.server.link));
    for number in 0..20 {
        let page = if number % 2 == 0 { "" } else { "sessions/session" };
        browser.open_tab(&format!("{}{page}", session.server.link));
    }
    let before = browser.entries();
    session.add_rest();
    browser.until(&format!("document.querySelectorAll('#feed .entry').length > {before}"));
    browser.is_whole();
    let entries = browser.entries();
    // A page that was not visible has what it missed as soon as it is visible.
    browser.close_tab();
    browser.until("!document.hidden");
    while browser.get("location.pathname") == json!("/") {
        browser.close_tab();
        browser.until("!document.hidden");
    }
    browser.until(&format!("document.querySelectorAll('#feed .entry').length === {entries}"));
    browser.is_whole();
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn more_windows_than_connections_are_alive() {
    let browser = Browser::start(Screen::Desk);
    let session = HalfSession::start();
    browser.open(&session.server.link);
    let address = format!("{}sessions/session", session.server.link);
    let windows: Vec<_> = (0..9).map(|_| browser.open_window(&address)).collect();
    let before = browser.entries();
    session.add_rest();
    let mut entries = BTreeSet::new();
    for window in &windows {
        browser.show(window);
        assert_eq!(browser.get("document.hidden"), json!(false));
        browser.until(&format!("document.querySelectorAll('#feed .entry').length > {before}"));
        browser.is_whole();
        entries.insert(browser.entries());
        assert_eq!(browser.reports(), [""; 0]);
    }
    assert_eq!(entries.len(), 1);
}
