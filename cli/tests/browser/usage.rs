//! The page of what was used.

use std::fs;

use serde_json::{Value, json};

use crate::{
    client::{Server, folder},
    driver::{Browser, ENTER, Screen},
};

/// The Left and the Right key, as the protocol writes them.
const LEFT: char = '\u{E012}';
const RIGHT: char = '\u{E014}';

/// The day of the bar whose amounts appear.
const SHOWN: &str = "[...document.querySelectorAll('.tip')].filter((tip) => getComputedStyle(tip).clipPath === 'none')
    .map((tip) => tip.firstElementChild.textContent.trim()).join()";

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn a_bar_says_its_amounts_to_the_keyboard_and_leads_to_its_sessions_and_back() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    for (session, tokens, day) in [("one", 1, "2026-01-05"), ("two", 2, "2026-01-07")] {
        let line = |role: &str, message: Value| {
            json!({"type": role, "uuid": format!("{session}-{role}"), "sessionId": session, "cwd": "/repo",
                   "timestamp": format!("{day}T10:00:00.000Z"), "message": message})
        };
        let asked = line("user", json!({"role": "user", "content": "Mend it"}));
        let said = json!({"id": session, "role": "assistant", "model": "model-a",
                          "usage": {"input_tokens": 1000, "output_tokens": tokens},
                          "content": [{"type": "text", "text": "Done."}]});
        let log = format!("{asked}\n{}\n", line("assistant", said));
        fs::write(logs.join(format!("{session}.jsonl")), log).unwrap();
    }
    let server = Server::start(&logs, &["--timezone", "UTC"]);
    browser.open(&format!("{}usage?agent=claude-code", server.link));
    assert_eq!(browser.get(SHOWN), json!(""));
    browser.run(
        "document.querySelector('#usage .bars [tabindex=\"0\"]').focus({ focusVisible: true })",
    );
    assert_eq!(browser.get(SHOWN), json!("2026-01-07"));
    browser.press([LEFT]);
    assert_eq!(browser.get(SHOWN), json!("2026-01-05"));
    browser.press([RIGHT, RIGHT, LEFT]);
    assert_eq!(browser.get(SHOWN), json!("2026-01-05"));
    assert_eq!(browser.reports(), [""; 0]);
    browser.press([ENTER]);
    browser.until("location.pathname === '/' && document.readyState === 'complete'");
    let filter = "location.search === '?agent=claude-code&since=2026-01-05&until=2026-01-05'";
    assert_eq!(browser.get(filter), json!(true));
    assert_eq!(browser.get("document.querySelectorAll('#rows th.w').length"), json!(1));
    browser.run("history.back()");
    browser.until("location.pathname === '/usage' && document.readyState === 'complete'");
    // A choice is in the address at once, and nothing else is.
    browser.run("document.querySelector('#asked [name=agent]').value = ''");
    browser.run("document.querySelector('#asked [name=agent]').dispatchEvent(new Event('change', { bubbles: true }))");
    browser.until("location.search === '' && document.readyState === 'complete'");
}
