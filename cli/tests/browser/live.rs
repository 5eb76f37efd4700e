//! A session while its agent works, under `foldline run --serve`.

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    agent::Run,
    driver::{Browser, Screen},
    logs::{droid, stdout},
};

#[test]
#[cfg_attr(not(has_chromedriver), ignore = "needs chromedriver")]
fn it_grows_while_the_agent_works_and_has_everything_when_that_has_ended() {
    let browser = Browser::start(Screen::Desk);
    let folder = TempDir::new().unwrap();
    let mut run = Run::start(folder.path(), &["--log", "log"]);
    browser.open(&run.server.link);
    browser.until("document.body.textContent.includes('No sessions yet')");
    let log = droid("session", 30, 3);
    let lines: Vec<_> = log.split_inclusive('\n').collect();
    let mut parts = lines.chunks(lines.len() / 5);
    run.print(&parts.next().unwrap().concat());
    // The list has it as soon as it has a title.
    browser.click("#rows th.w a");
    browser
        .until("location.pathname === '/sessions/session' && document.readyState === 'complete'");
    for part in parts {
        let before = browser.entries();
        run.print(&part.concat());
        browser.until(&format!("document.querySelectorAll('#feed .entry').length > {before}"));
    }
    browser.is_whole();
    assert_eq!(run.end(), Some(0));
    let log = folder.path().join("log");
    let replayed = stdout(&["replay", log.to_str().unwrap(), "--format", "conversation"]);
    let replayed: Value = serde_json::from_str(&replayed).unwrap();
    let entries = replayed["entries"].as_array().unwrap();
    browser
        .until(&format!("document.querySelectorAll('#feed .entry').length === {}", entries.len()));
    // The page shows the status, and sends no more requests.
    browser.until("document.querySelector('#state').textContent === 'done'");
    // Calls that were open have ended with the agent.
    browser.until("document.querySelector('#feed [data-state=running]') === null");
}
