//! The page of a session that grows, and what each entry was made from.

use std::fs;

use serde_json::json;

use crate::{
    client::{Server, answered, append, folder},
    driver::{Browser, Screen},
};

/// A log in as many parts, each of whole lines.
fn parts(log: &str, count: usize) -> Vec<String> {
    let lines: Vec<_> = log.split_inclusive('\n').collect();
    lines.chunks(lines.len().div_ceil(count)).map(<[_]>::concat).collect()
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn it_grows_and_goes_on_after_it_was_loaded_again() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    let parts = parts(&answered(40, 7), 8);
    append(&log, &parts[0]);
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}sessions/session", server.link));
    for part in &parts[1..4] {
        let before = browser.entries();
        append(&log, part);
        browser.until(&format!("document.querySelectorAll('#feed .entry').length > {before}"));
    }
    // Changes during loading are neither lost nor repeated.
    append(&log, &parts[4]);
    browser.reload();
    append(&log, &parts[5]);
    browser.is_whole();
    browser.reload();
    for part in &parts[6..] {
        append(&log, part);
    }
    browser.until(
        "document.querySelector('#side').textContent.includes('40 turns') || \
                   document.querySelector('.about').textContent.includes('40 turns')",
    );
    browser.is_whole();
    assert_eq!(browser.reports(), [""; 0]);
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn it_goes_on_when_the_server_was_killed_and_is_there_again() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    let parts = parts(&answered(30, 5), 6);
    append(&log, &parts[0]);
    let mut server = Server::start(&logs, &[]);
    let address = server.address.clone();
    browser.open(&format!("http://{address}/sessions/session"));
    for part in parts[1..].chunks(2) {
        append(&log, &part[0]);
        drop(server);
        browser.until(
            "document.querySelector('#lost')?.textContent.startsWith('Connection lost') === true",
        );
        assert_eq!(
            browser.get("document.querySelector('#state').textContent"),
            json!("not connected")
        );
        part[1..].iter().for_each(|part| append(&log, part));
        server = Server::start_at(&address, &logs, &[]);
        browser.is_whole();
    }
    browser.until("document.querySelector('#lost') === null");
    browser.until("document.querySelector('#state').textContent !== 'not connected'");
    assert_eq!(browser.reports(), [""; 0]);
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn an_entry_is_explained() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), answered(10, 3)).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}sessions/session#e3", server.link));
    browser.until("document.activeElement.id === 'e3'");
    let said = browser.get("document.activeElement.textContent.trim().length > 0");
    assert_eq!(said, json!(true));
    browser.press(['e']);
    browser.until("document.querySelector('#e3 > .explain ol.steps li') !== null");
    assert_eq!(browser.reports(), [""; 0]);
}

/// The first entry on the screen, and where it begins.
const PLACE: &str = "(() => {
    const shown = [...document.querySelectorAll('#feed > .entry')].find((it) => it.getBoundingClientRect().bottom > 60);
    return [shown.id, Math.round(shown.getBoundingClientRect().top / 8)];
})()";

const IS_AT_END: &str = "innerHeight + scrollY >= document.documentElement.scrollHeight - 48";

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn a_page_that_is_loaded_again_stays_where_its_reader_was() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    let parts = parts(&answered(60, 7), 4);
    append(&log, &parts[0]);
    append(&log, &parts[1]);
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}sessions/session", server.link));
    // It is running, and a new page of it begins at its end, and stays there.
    browser.until("document.querySelector('#state').textContent === 'running'");
    browser.until(IS_AT_END);
    browser.reload();
    browser.until(IS_AT_END);
    append(&log, &parts[2]);
    browser.until("document.querySelector('#feed').lastElementChild.id !== '' && document.querySelectorAll('#feed .entry').length > 100");
    browser.until(IS_AT_END);
    // Who reads further up stays there.
    browser.run("scrollTo(0, document.documentElement.scrollHeight / 3)");
    browser.until("document.querySelector('#live').checked === false");
    browser.run(
        "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
    );
    let place = browser.get(PLACE);
    browser.reload();
    let is_there = format!("JSON.stringify({PLACE}) === '{place}'");
    browser.until(&is_there);
    append(&log, &parts[3]);
    let count = browser.entries();
    browser.until(&format!("document.querySelectorAll('#feed .entry').length > {count}"));
    browser.until(&is_there);
    assert_eq!(browser.get("document.querySelector('#live').checked"), json!(false));
    assert_eq!(browser.reports(), [""; 0]);
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn what_has_the_focus_is_copied() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), answered(10, 3)).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}sessions/session", server.link));
    browser.run(
        "navigator.clipboard.writeText = async (text) => { document.body.dataset.copied = text; }",
    );
    let focus = |what: &str| {
        browser.run(&format!("document.querySelector('{what}').focus()"));
        browser.until("document.querySelector('.copy') !== null");
    };
    focus(".entry[data-type=user_message]");
    browser.press(['c']);
    browser.until("document.body.dataset.copied?.startsWith('Please look') === true");
    assert_eq!(browser.get("document.querySelector('.copy').ariaLabel"), json!("Copy the prompt"));
    assert_eq!(browser.get("document.querySelector('.copy').textContent"), json!("Copied"));
    focus(".entry[data-action=command_run]");
    let command = "document.querySelector('.entry[data-action=command_run] .title').textContent";
    browser.run("document.querySelector('.copy').click()");
    browser.until(&format!("document.body.dataset.copied === {command}"));
    browser.is_whole();
    assert_eq!(browser.reports(), [""; 0]);
}
