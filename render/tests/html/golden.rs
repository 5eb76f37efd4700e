//! Whole pages as reviewed snapshots.

use foldline_agents::{ExecutorReducer, claude::ClaudeSession};
use foldline_render::html::{Page, SHEET, SPRITE};
use foldline_testkit::run;

/// A page without its style sheet, script and icons, which are separate files.
fn page_of(log: &str) -> String {
    let mut page = Page::default();
    for event in
        run::sourced_events(&ExecutorReducer::new(ClaudeSession::default()), [log.as_bytes()])
    {
        page.apply(&event.item);
    }
    page.end();
    let html = page.render().replace(SHEET, "").replace(SPRITE, "");
    let (start, rest) = html.split_once("<script>").unwrap();
    let html = [start, rest.split_once("</script>").unwrap().1].concat();
    let (policy, _) = html.split_once("img-src").unwrap();
    let hashes = policy.split("'sha256-").skip(1);
    let hashes: Vec<_> = hashes.map(|rest| rest.split('\'').next().unwrap().to_owned()).collect();
    let html = hashes.iter().fold(html, |html, hash| html.replace(hash, "HASH"));
    // A line for each block element, so that changes are readable.
    ["<article", "<details", "<summary", "<section", "<header", "<main", "<aside", "<tr", "<dt"]
        .into_iter()
        .fold(html, |html, tag| html.replace(tag, &format!("\n{tag}")))
}

#[test]
fn a_session() {
    insta::assert_snapshot!(page_of(include_str!(
        "../../../tests/fixtures/claude-session/conversation.jsonl"
    )));
}

#[test]
fn a_session_with_a_sub_agent() {
    insta::assert_snapshot!(page_of(include_str!(
        "../../../tests/fixtures/claude-session/progress.jsonl"
    )));
}
