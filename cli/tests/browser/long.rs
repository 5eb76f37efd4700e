//! A session of 10,000 entries, of which the page has a part at a time.

use serde_json::Value;

use crate::{
    client::{Server, append, folder},
    driver::{Browser, ENTER, Screen},
    logs::droid,
};

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn its_end_is_near_and_everything_is_found() {
    let browser = Browser::start(Screen::Desk);
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    let whole = droid("session", 2_900, 9).replace("problem 1400 ", "needle ");
    // The last line says that the session has ended.
    append(&log, &whole[..whole.trim_end().rfind('\n').unwrap() + 1]);
    let server = Server::start(&logs, &[]);
    let document: Value = serde_json::from_str(&server.body("/api/sessions/session")).unwrap();
    let count = document["entries"].as_array().unwrap().len();
    assert!(count >= 10_000, "{count} entries");
    browser.open(&format!("{}sessions/session", server.link));
    assert!(browser.entries() < 500, "the page has a part of them");
    browser.until("document.querySelectorAll('#feed > .gap').length === 1");
    // To the end.
    browser.press(['l']);
    browser.until("innerHeight + scrollY >= document.documentElement.scrollHeight - 48");
    browser.until(&format!("document.getElementById('e{}') !== null", count - 1));
    // New entries appear, and the page follows.
    let said = r#"{"type":"message","role":"assistant","id":"new","text":"And one more.","session_id":"session","timestamp":1770000000000}"#;
    append(&log, &format!("{said}\n"));
    browser.until(&format!(
        "document.getElementById('e{count}')?.textContent.includes('And one more.') === true"
    ));
    browser.until("innerHeight + scrollY >= document.documentElement.scrollHeight - 48");
    // Entries that are not loaded are found, and loaded.
    browser.press(['/']);
    browser.press("NEEDLE in".chars().chain([ENTER]));
    browser.until("document.querySelector('#find .hits').textContent === '1 of 1'");
    browser.until(
        "[...document.querySelectorAll('#feed .entry')].some((entry) => {
            const { top, bottom } = entry.getBoundingClientRect();
            return entry.textContent.includes('needle in') && top < innerHeight && bottom > 0;
        })",
    );
    // No entry is repeated, and each missing entry is in a gap.
    browser.until(&format!(
        "(() => {{
            let next = 0;
            for (const part of document.querySelectorAll('#feed .entry, #feed > .gap')) {{
                const first = +(part.dataset.first ?? part.id.slice(1));
                if (first !== next) return `${{next}} is not ${{first}}`;
                next = +(part.dataset.last ?? first) + 1;
            }}
            return next === {};
        }})()",
        count + 1
    ));
    assert_eq!(browser.reports(), [""; 0]);
}
