//! One clock: the list, the page and an exported page show the same zone, and name it.

use std::{
    fs::{self, File},
    time::SystemTime,
};

use super::{
    client::{Server, folder, until},
    logs::stdout,
};

/// A session that began at noon in UTC.
const LOG: &str = concat!(
    r#"{"type":"user","sessionId":"s","uuid":"1","timestamp":"2026-03-01T12:00:05Z","version":"2.1.62","cwd":"/srv/x","message":{"role":"user","content":"Look"}}"#,
    "\n",
    r#"{"type":"assistant","sessionId":"s","uuid":"2","timestamp":"2026-03-01T12:00:07Z","version":"2.1.62","cwd":"/srv/x","message":{"role":"assistant","content":[{"type":"text","text":"Done"}]}}"#,
    "\n"
);

#[test]
fn every_page_shows_the_same_zone() {
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    fs::write(&log, LOG).unwrap();
    // A log that has just been written is that of a running session for a minute.
    File::options().append(true).open(&log).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let server = Server::start(&logs, &["--timezone", "Asia/Tokyo"]);
    let row = "title=\"2026-03-01 12:00:05 UTC\">21:00</time>";
    until("the session is in the list", || server.body("/").contains(row));
    let entry = "title=\"2026-03-01 12:00:05 UTC\">21:00:05</time>";
    let page = server.body("/sessions/s");
    assert!(page.contains(entry) && page.contains("1 Mar 2026 21:00:05 JST"), "{page}");
    let past = server.body("/sessions/s?moment=2");
    assert!(
        past.contains("at 1 Mar 2026 21:00:05") || past.contains("at 1 Mar 21:00:05"),
        "{past}"
    );
    let export = |zone: &str| stdout(&["export", log.to_str().unwrap(), "--timezone", zone]);
    let file = export("Asia/Tokyo");
    assert!(file.contains(entry) && file.contains("1 Mar 2026 21:00:05 JST"));
    assert!(export("UTC").contains("1 Mar 2026 12:00:05 UTC"));
}
