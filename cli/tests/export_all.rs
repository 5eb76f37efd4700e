//! `foldline export --all`: a folder of pages with a table of contents.

use std::{fs, path::Path};

use crate::logs::{droid, run, stdout};

/// A database of two sessions, one of them with an address.
fn database(folder: &Path) -> String {
    let logs = folder.join("logs");
    fs::create_dir(&logs).unwrap();
    fs::write(logs.join("one.jsonl"), droid("first", 3, 1)).unwrap();
    let second = droid("second", 3, 2).replace("Please look", "Ask ada@example.org to look");
    fs::write(logs.join("two.jsonl"), second).unwrap();
    let database = folder.join("s.db").display().to_string();
    stdout(&["ingest", logs.to_str().unwrap(), "--db", &database]);
    database
}

/// What a successful command says on standard error.
fn stderr(arguments: &[&str]) -> String {
    let output = run(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_site_has_a_page_for_each_session_and_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path());
    let site = folder.path().join("site");
    let out = site.to_str().unwrap();
    let said = stderr(&["export", "--all", "--out", out, "--db", &database]);
    assert!(said.contains("2 sessions exported"), "{said}");
    let list = read(&site.join("index.html"));
    for name in ["first", "second"] {
        assert!(list.contains(&format!("href=\"sessions/{name}.html\"")), "{list}");
        let page = read(&site.join(format!("sessions/{name}.html")));
        assert!(page.contains("data-page=\"export\"") && page.contains("data-turn="), "{name}");
    }
    assert!(list.contains("ada@example.org") && list.contains("times in "));
    // The filters of all questions select sessions, and a second export replaces the first.
    let said = stderr(&["export", "--all", "--redact", "--out", out, "--db", &database]);
    assert!(said.contains("redacted: "), "{said}");
    let list = read(&site.join("index.html"));
    let page = read(&site.join("sessions/second.html"));
    assert!(!list.contains("ada@example.org") && !page.contains("ada@example.org"));
    let none = run(&["export", "--all", "--agent", "codex", "--out", out, "--db", &database]);
    assert!(none.status.success());
    assert!(read(&site.join("index.html")).contains("0 sessions"));
}

#[test]
fn every_format_has_a_document_for_each_session() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path());
    for (format, ending) in [("md", "md"), ("json", "json"), ("atif", "atif.json")] {
        let out = folder.path().join(format);
        let to = ["--out", out.to_str().unwrap(), "--db", &database];
        let said =
            stderr(&[&["export", "--all", "--redact", "--format", format][..], &to].concat());
        assert!(said.contains("redacted: ") && said.contains("2 sessions exported"), "{said}");
        let mut names: Vec<_> =
            fs::read_dir(&out).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(
            names,
            [format!("first.{ending}"), format!("second.{ending}")].map(Into::into)
                as [std::ffi::OsString; 2]
        );
        let document = read(&out.join(format!("second.{ending}")));
        assert!(document.contains("email 1") && !document.contains("ada@example.org"), "{format}");
    }
}

#[test]
fn rows_of_all_sessions_are_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path());
    let out = folder.path().join("all.jsonl");
    let to = ["--out", out.to_str().unwrap(), "--db", &database];
    let said = stderr(&[&["export", "--all", "--redact", "--format", "jsonl"][..], &to].concat());
    assert!(said.contains("redacted: ") && said.contains("2 sessions exported"), "{said}");
    let lines = read(&out);
    let of = |table: &str| lines.matches(&format!("{{\"table\":\"{table}\"")).count();
    assert_eq!((lines.matches("schema_version").count(), of("sessions")), (1, 2));
    assert!(of("entries") > of("calls") && of("calls") > 0 && !lines.contains("ada@example.org"));
    let over = ["export", "--all", "--format", "jsonl", "--out", &database, "--db", &database];
    assert_eq!(run(&over).status.code(), Some(2));
}

#[test]
fn documents_of_all_sessions_need_a_folder() {
    assert_eq!(run(&["export", "--all"]).status.code(), Some(2));
}
