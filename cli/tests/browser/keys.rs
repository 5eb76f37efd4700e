//! The pages with the keyboard alone.

use std::fs;

use serde_json::{Value, json};

use crate::{
    client::{Server, answered, folder},
    driver::{BACKSPACE, Browser, ESCAPE, Screen},
};

fn focused(browser: &Browser) -> Value {
    browser.get("document.activeElement.id || document.activeElement.getAttribute('href')")
}

/// `?` opens the help and closes it, `/` leads to the field, and Escape out of it.
fn help_and_search(browser: &Browser) {
    browser.press(['?']);
    browser.until("document.querySelector('#help').matches(':popover-open')");
    browser.press(['?']);
    browser.until("!document.querySelector('#help').matches(':popover-open')");
    browser.press(['/']);
    browser.until("document.activeElement.type === 'search'");
    // Keys are text there.
    browser.press("j?".chars());
    browser.until("document.activeElement.value === 'j?'");
    assert_eq!(
        browser.get("document.querySelector('#help').matches(':popover-open')"),
        json!(false)
    );
    // As a reader clears it: what was typed may have been looked up already.
    browser.press([BACKSPACE, BACKSPACE]);
    browser.until("document.activeElement.value === ''");
    browser.press([ESCAPE]);
    browser.until("document.activeElement === document.body");
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn the_list_is_walked() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    for (number, name) in ["one", "two", "three"].into_iter().enumerate() {
        let log = answered(2, number as u64).replace("\"session\"", &json!(name).to_string());
        fs::write(logs.join(name), log).unwrap();
    }
    let server = Server::start(&logs, &[]);
    browser.open(&server.link);
    help_and_search(&browser);
    browser
        .until("location.search === '' && document.querySelectorAll('#rows th.w a').length === 3");
    let links = browser
        .get("[...document.querySelectorAll('#rows th.w a')].map((a) => a.getAttribute('href'))");
    browser.press(['j']);
    assert_eq!(focused(&browser), links[0]);
    browser.press(['j', 'j', 'j']);
    assert_eq!(focused(&browser), links[2]);
    browser.press(['k']);
    assert_eq!(focused(&browser), links[1]);
    assert_eq!(browser.reports(), [""; 0]);
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn a_session_is_walked() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), answered(12, 7)).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}sessions/session", server.link));
    help_and_search(&browser);
    browser.run("scrollTo(0, 0)");
    browser.press(['j']);
    let first = focused(&browser);
    assert!(first.as_str().unwrap().starts_with('e'), "{first}");
    browser.press(['j', 'j', 'k']);
    let second = focused(&browser);
    assert_ne!(first, second);
    browser.press(['k']);
    assert_eq!(focused(&browser), first);
    // Failures and turns.
    browser.press(['n']);
    assert_eq!(browser.get("document.activeElement.dataset.bad !== undefined"), json!(true));
    browser.press([']']);
    assert_eq!(browser.get("document.activeElement.dataset.turn !== undefined"), json!(true));
    assert_eq!(browser.reports(), [""; 0]);
}
