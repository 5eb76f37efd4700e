//! The pages on a screen of 390 pixels.

use std::fs;

use serde_json::json;

use crate::{
    client::{Server, answered, folder},
    driver::{Browser, Screen},
};

/// Elements that are wider than the screen, except those that scroll separately.
const WIDER: &str = "(() => {
    const scrolls = (element) => getComputedStyle(element).overflowX !== 'visible';
    const within = (element) => element && element !== document.body
        && (scrolls(element) || within(element.parentElement));
    const wide = [...document.body.querySelectorAll('*')].filter((element) =>
        element.checkVisibility() && element.getBoundingClientRect().right > 391 && !within(element.parentElement));
    const names = wide.map((element) => `${element.tagName}.${element.className}`);
    return document.documentElement.scrollWidth > 390 ? ['the page', ...names] : names;
})()";

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn nothing_is_wider_than_it() {
    let browser = Browser::start(Screen::Phone);
    let (_folder, logs) = folder();
    let long = "a_very_long_name_without_any_place_to_break_it/".repeat(12);
    let log = answered(12, 7).replace("façade", &long).replace("/repo/src", &long);
    fs::write(logs.join("log.jsonl"), log).unwrap();
    let failed = include_str!("../../../tests/fixtures/claude-stream/failed.jsonl");
    let failed =
        failed.replace("There is no model claude-none.", &long).replace("api_error", &long);
    fs::write(logs.join("failed.jsonl"), failed).unwrap();
    let server = Server::start(&logs, &[]);
    for page in [
        "",
        "sessions/session",
        "sessions/0f0f0f0f-0000-4000-8000-000000000001",
        "sessions/session?explain=3",
        "sessions/none",
        "?q=nothing-like-this",
        "usage",
        "usage?by=session&model=a&since=2026-01-01",
        "?since=2026-01-01&model=a",
    ] {
        browser.open(&format!("{}{page}", server.link));
        assert_eq!(browser.get("screen.width"), json!(390));
        assert_eq!(browser.get(WIDER), json!([]), "/{page}");
        // And when everything is open.
        browser.run(
            "document.querySelectorAll('details').forEach((details) => (details.open = true))",
        );
        assert_eq!(browser.get(WIDER), json!([]), "/{page}, opened");
    }
    // The measure itself.
    browser.run("document.querySelector('main').append(Object.assign(document.createElement('div'), { id: 'wide' }))");
    browser.run("document.getElementById('wide').style.cssText = 'width: 500px; height: 1px'");
    assert_ne!(browser.get(WIDER), json!([]));
}
