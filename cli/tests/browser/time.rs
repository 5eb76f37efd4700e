//! A session as it was: the slider, the keys and playback; and the charts of usage.

use std::fs;

use serde_json::json;

use crate::{
    client::{Server, answered, append, folder},
    driver::{Browser, Screen},
};

/// The moment in the address, which follows when the slider rests.
const MOMENT: &str = "+new URLSearchParams(location.search).get('moment')";

fn slide(browser: &Browser, share: f64) {
    browser.run_with(
        "const slider = document.getElementById('time');
         slider.value = Math.floor(slider.max * arguments[0]);
         slider.dispatchEvent(new Event('input', { bubbles: true }));",
        vec![json!(share)],
    );
    browser.until(&format!("document.documentElement.dataset.time === 'past' && {MOMENT} > 0"));
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn one_goes_back_and_forth() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    let whole = answered(20, 7);
    let end = whole.match_indices('\n').nth_back(3).unwrap().0 + 1;
    append(&log, &whole[..end]);
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}sessions/session", server.link));
    browser.is_whole();
    let now = browser.entries();

    slide(&browser, 0.5);
    browser.until("document.querySelector('.past-end') !== null");
    let then = browser.entries();
    assert!(then < now, "{then} of {now} entries");
    // Changes meanwhile are announced, and move nothing.
    append(&log, &whole[end..]);
    browser.until("document.getElementById('behind').textContent.includes('new')");
    assert_eq!(browser.entries(), then);

    let moment = browser.get(MOMENT).as_u64().unwrap();
    browser.press([',']);
    browser.until(&format!("{MOMENT} === {}", moment - 1));
    browser.press(['.']);
    browser.until(&format!("{MOMENT} === {moment}"));
    assert_eq!(browser.entries(), then);

    browser.press(['l']);
    browser.until("document.documentElement.dataset.time === 'live'");
    browser.is_whole();
    assert!(browser.entries() > now);

    // Playing ends in the present.
    slide(&browser, 0.9);
    browser.run("document.getElementById('speed').value = '100'");
    browser.click("#play");
    browser.until("document.documentElement.dataset.time === 'live'");
    browser.is_whole();
    assert_eq!(browser.reports(), [""; 0]);
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn a_moment_has_an_address() {
    let browser = Browser::start(Screen::Phone);
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), answered(10, 3)).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}sessions/session?moment=5", server.link));
    browser.until("document.documentElement.dataset.time === 'past'");
    browser.until("document.querySelector('.past-end') !== null");
    assert!(browser.entries() <= 5);
    assert_eq!(browser.reports(), [""; 0]);
}

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn what_was_used_is_drawn_and_written() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), answered(10, 3)).unwrap();
    let server = Server::start(&logs, &[]);
    browser.open(&format!("{}usage?time=all", server.link));
    browser.until("document.querySelectorAll('main svg').length > 0");
    assert_ne!(browser.get("document.querySelectorAll('main table tr').length"), json!(0));
    assert_eq!(browser.reports(), [""; 0]);
}
