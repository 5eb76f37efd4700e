//! Whole pages as reviewed snapshots.

use foldline::{
    emitters::html::{Page, SHEET, SPRITE},
    executors::{Reducing, claude::ClaudeSession},
    testkit::run,
};

/// A page without its style sheet and icons, which are separate files.
fn page_of(log: &str) -> String {
    let mut page = Page::default();
    for event in run::sourced_events(&Reducing::new(ClaudeSession), [log.as_bytes()]) {
        page.apply(&event.item);
    }
    page.end();
    let html = page.render().replace(SHEET, "").replace(SPRITE, "");
    let policy = html.find("sha256-").unwrap() + "sha256-".len();
    let hash = html[policy..].split('\'').next().unwrap().to_owned();
    // A line for each block element, so that changes are readable.
    ["<article", "<details", "<summary", "<section", "<header", "<main", "<aside", "<tr", "<dt"]
        .into_iter()
        .fold(html.replace(&hash, "HASH"), |html, tag| html.replace(tag, &format!("\n{tag}")))
}

#[test]
fn a_session() {
    insta::assert_snapshot!(page_of(include_str!("../fixtures/claude-session/conversation.jsonl")));
}

#[test]
fn a_session_with_a_sub_agent() {
    insta::assert_snapshot!(page_of(include_str!("../fixtures/claude-session/progress.jsonl")));
}
