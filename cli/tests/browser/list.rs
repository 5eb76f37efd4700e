//! The list of sessions.

use std::fs;

use serde_json::json;

use crate::{
    client::{Server, folder, until},
    driver::{BACKSPACE, Browser, Screen},
    logs::droid,
};

/// The titles that the list shows.
const TITLES: &str =
    "[...document.querySelectorAll('#rows th.w a:not(.sub)')].map((a) => a.textContent)";

fn titles(browser: &Browser) -> Vec<String> {
    serde_json::from_value(browser.get(TITLES)).unwrap()
}

/// A log whose prompts begin with this word.
fn log(session: &str, seed: u64, word: &str) -> String {
    droid(session, 3, seed).replace("Please", word)
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn it_is_searched_while_somebody_types_and_grows_meanwhile() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    fs::write(logs.join("one.jsonl"), log("one", 1, "Please")).unwrap();
    fs::write(logs.join("two.jsonl"), log("two", 2, "Kindly")).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&server.link);
    assert_eq!(titles(&browser).len(), 2);
    browser.press(['/']);
    browser.press("kind".chars());
    browser.until(&format!("{TITLES}.length === 1"));
    assert!(titles(&browser)[0].starts_with("Kindly"));
    browser.until("location.search === '?q=kind'");
    // New sessions are shown if they match the filter.
    fs::write(logs.join("three.jsonl"), log("three", 3, "Please")).unwrap();
    fs::write(logs.join("four.jsonl"), log("four", 4, "Kindest")).unwrap();
    browser.until(&format!("{TITLES}.length === 2"));
    assert!(titles(&browser).iter().all(|title| title.starts_with("Kind")));
    // The focus and the typed text are kept.
    browser.press("ly".chars());
    browser.until(&format!("{TITLES}.length === 1"));
    browser.press([BACKSPACE; 6]);
    browser.until(&format!("{TITLES}.length === 4 && location.search === ''"));
    assert_eq!(browser.reports(), [""; 0]);
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn a_session_is_opened_by_its_title() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    fs::write(logs.join("one.jsonl"), log("one", 1, "Please")).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&server.link);
    browser.click("#rows th.w a");
    browser.until("location.pathname === '/sessions/one' && document.readyState === 'complete'");
    browser.is_whole();
    assert_eq!(browser.get("document.documentElement.dataset.script"), json!("on"));
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn it_is_up_to_date_when_the_server_was_killed_and_is_there_again() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    fs::write(logs.join("one.jsonl"), log("one", 1, "Please")).unwrap();
    let server = Server::start(&logs, &[]);
    let address = server.address.clone();
    browser.open(&server.link);
    drop(server);
    browser.until("document.querySelector('#lost') !== null");
    fs::write(logs.join("two.jsonl"), log("two", 2, "Kindly")).unwrap();
    let _server = Server::start_at(&address, &logs, &[]);
    browser.until(&format!("{TITLES}.length === 2"));
    browser.until("document.querySelector('#lost') === null");
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn it_stays_as_it_is_when_nothing_has_changed() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    fs::write(logs.join("one.jsonl"), log("one", 1, "Please")).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}?q=please", server.link));
    // A click during a refresh must hit the displayed row.
    browser.run("document.querySelector('#rows').isTheFirst = true");
    let asked = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/rows')).length";
    let before = browser.get(asked);
    fs::write(logs.join("two.jsonl"), log("two", 2, "Kindly")).unwrap();
    until("it is read", || server.body("/api/sessions").contains("\"two\""));
    browser.until(&format!("{asked} > {before}"));
    browser.run("return new Promise(requestAnimationFrame)");
    assert_eq!(browser.get("document.querySelector('#rows').isTheFirst"), json!(true));
    fs::write(logs.join("three.jsonl"), log("three", 3, "Please")).unwrap();
    browser.until(&format!("{TITLES}.length === 2"));
    assert_eq!(browser.get("document.querySelector('#rows').isTheFirst"), json!(null));
}
