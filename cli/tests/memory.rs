//! Memory stays bounded in the verbs that read a log for another purpose than a replay or an ingest.

use std::fs;

use crate::{
    hostile::{peak_of, said},
    logs::stdout,
};

/// How many mebibytes the logs have.
fn mebibytes() -> usize {
    std::env::var("FOLDLINE_HOSTILE").ok().and_then(|size| size.parse().ok()).unwrap_or(1)
}

#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn a_trail_is_compared_with_a_log_of_any_number_of_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let lines = "\n".repeat(mebibytes() << 20);
    let log = format!("{}\n{lines}{}\n", said("one"), said("two"));
    fs::write(path("log"), log).unwrap();
    let (db, trail) = (path("db"), path("trail"));
    let ingest = ["ingest", &path("log"), "--db", &db, "--audit", &trail, "--executor", "droid"];
    stdout(&ingest);
    let peak = peak_of(&["verify", &trail, "--source"], &folder.path().join("log")) >> 20;
    assert!(peak < 40, "{peak} MiB");
}

#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn documents_of_invalid_records_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let records = "{}{}\n".repeat((mebibytes() << 20) / 5);
    fs::write(&log, format!("{}\n{records}{}\n", said("one"), said("two"))).unwrap();
    let export = ["export", "--executor", "droid", "--format"];
    for format in ["html", "json", "md"] {
        let peak = peak_of(&[&export[..], &[format]].concat(), &log) >> 20;
        assert!(peak < 80, "{format}: {peak} MiB");
        let document = stdout(&[&export[..], &[format, log.to_str().unwrap()]].concat());
        // What is left out is counted, and the rest is there.
        for part in [" further diagnostics are left out of this document", "one", "two"] {
            assert!(document.contains(part), "{format}: {part}");
        }
    }
}

/// The search index holds each different word of a text in memory while it is added.
#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn a_text_of_a_million_different_words_is_ingested() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let fields: String = (0..900_000).map(|number| format!(",\"f{number:06}\":0")).collect();
    fs::write(&log, format!("{}\n{{\"type\":\"x\"{fields}}}\n", said("one"))).unwrap();
    let db = folder.path().join("db").to_str().unwrap().to_owned();
    let ingest = ["ingest", "--jobs", "1", "--executor", "droid", "--db", &db];
    let peak = peak_of(&ingest, &log) >> 20;
    assert!(peak < 140, "{peak} MiB");
    // Words after the first mebibyte are found by reading the text.
    for word in ["f000001", "f899999"] {
        let found = stdout(&["search", word, "--db", &db]);
        assert!(found.contains(&format!("«{word}»")), "{found}");
    }
}

/// A page has 100 KB besides its entries.
#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn pages_of_many_sessions_are_written_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let sessions = (0..600).map(|number| {
        let line = said("one").replace("\"one\"", &format!("\"one of {number}\""));
        line.replace('{', &format!("{{\"session_id\":\"s{number}\","))
    });
    fs::write(&log, sessions.map(|line| line + "\n").collect::<String>()).unwrap();
    let page = folder.path().join("page.html").display().to_string();
    let export = ["export", "--executor", "droid", "--format", "html", "--out", &page];
    let peak = peak_of(&export, &log) >> 20;
    let pages = fs::read_dir(folder.path()).unwrap().count() - 1;
    assert_eq!(pages, 600);
    assert!(peak < 60, "{peak} MiB");
}
