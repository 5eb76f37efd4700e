//! A session as a document that can be sent.

use std::fs;

use crate::logs::{droid, foldline};

#[test]
fn a_page_goes_to_standard_output_or_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log"), droid("session", 5, 1)).unwrap();
    let run = |arguments: &[&str]| {
        let output = foldline().args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let page = run(&["export", "log"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    assert!(page.contains("Please look at problem 4"));
    fs::write(folder.path().join("page"), "an older one").unwrap();
    assert_eq!(run(&["export", "log", "--format", "html", "--out", "page"]), "");
    assert_eq!(fs::read_to_string(folder.path().join("page")).unwrap(), page);
}

#[test]
fn json_is_the_document_of_a_replay() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log"), droid("session", 5, 2)).unwrap();
    let run = |arguments: &[&str]| {
        foldline().args(arguments).current_dir(folder.path()).output().unwrap().stdout
    };
    let replayed = run(&["replay", "log", "--format", "conversation"]);
    assert!(!replayed.is_empty());
    assert_eq!(run(&["export", "log", "--format", "json"]), replayed);
}

#[test]
fn what_cannot_be_exported_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("odd"), "{\"a\":1}\n").unwrap();
    fs::write(folder.path().join("log"), droid("session", 1, 3) + "{\"type\":\n").unwrap();
    let code = |arguments: &[&str]| {
        foldline().args(arguments).current_dir(folder.path()).output().unwrap().status.code()
    };
    assert_eq!(code(&["export", "missing"]), Some(4));
    assert_eq!(code(&["export", "odd"]), Some(2));
    assert_eq!(code(&["export", "log", "--out", "log"]), Some(2));
    assert_eq!(code(&["export", "log", "--out", "no/such/folder"]), Some(1));
    assert_eq!(code(&["export", "log", "--strict"]), Some(3));
    assert_eq!(code(&["export", "log"]), Some(0));
}

#[test]
fn markdown_is_a_document_for_people() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log"), droid("session", 5, 1)).unwrap();
    let arguments = ["export", "log", "--format", "md"];
    let output = foldline().args(arguments).current_dir(folder.path()).output().unwrap();
    let document = String::from_utf8(output.stdout).unwrap();
    assert!(
        document.starts_with("# ") && document.contains("## You\n\n> Please look at problem 4")
    );
}

#[test]
fn secrets_are_replaced_in_every_format_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let log = droid("session", 5, 1).replace("Please look", "ada@example.org, /home/ada/x: look");
    fs::write(folder.path().join("log"), log).unwrap();
    for (format, listed) in [
        ("html", "5 e-mail addresses, 5 home directories"),
        ("md", "5 e-mail addresses, 5 home directories"),
        ("atif", "5 e-mail addresses, 5 home directories"),
        ("json", "\"email\": 5,\n    \"home-folder\": 5"),
    ] {
        let arguments = ["export", "log", "--redact", "--format", format];
        let output = foldline().args(arguments).current_dir(folder.path()).output().unwrap();
        let document = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!document.contains("ada@") && !document.contains("/ada"), "{format}");
        assert!(document.contains("email 1") && document.contains("~/x"), "{format}");
        assert!(document.contains(listed), "{format}");
        assert!(said.contains("5 e-mail addresses, 5 home directories"), "{format}: {said}");
    }
}

#[test]
fn it_is_said_what_was_replaced_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let log = droid("session", 5, 1).replace("Please look", "ada@example.org, /home/ada/x: look");
    fs::write(folder.path().join("log"), log).unwrap();
    let run = |arguments: &[&str]| {
        let output = foldline().args(arguments).current_dir(folder.path()).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (_, _, said) = run(&["export", "log", "--redact", "--format", "md"]);
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[1].starts_with("  5 e-mail addresses: session:1, :"), "{said}");
    assert!(lines[2].starts_with("  5 home directories: session:1, :"), "{said}");
    let (code, listed, said) = run(&["export", "log", "--redact", "--preview"]);
    assert_eq!((code, listed.lines().count()), (Some(0), 10), "{listed}{said}");
    let first = listed.lines().next().unwrap();
    assert!(first.starts_with("session:1  e-mail address  «ada…», /home/***/x: look"), "{first}");
    assert!(!listed.contains("ada@") && !listed.contains("/ada") && said.is_empty(), "{listed}");
    assert_eq!(run(&["export", "log", "--preview"]).0, Some(2));
    assert_eq!(run(&["export", "log", "--redact", "--preview", "--out", "x"]).0, Some(2));
    assert!(!folder.path().join("x").exists());
}

/// A session in which a person shows a picture.
const SHOWN: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s-1","version":"2.0.0","cwd":"/work","timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhAQABAAAAACwAAAAAAQABAAA="}}]}}
"#;

#[test]
fn a_trajectory_has_its_pictures_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log"), SHOWN).unwrap();
    let run = |arguments: &[&str]| {
        let output = foldline().args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let within = run(&["export", "log", "--format", "atif"]);
    assert!(within.contains("\"path\": \"data:image/gif;base64,R0lGOD"), "{within}");
    run(&["export", "log", "--format", "atif", "--out", "one.atif.json"]);
    let beside = fs::read_to_string(folder.path().join("one.atif.json")).unwrap();
    assert!(beside.contains("\"path\": \"one.atif.images/1.gif\""), "{beside}");
    let picture = fs::read(folder.path().join("one.atif.images/1.gif")).unwrap();
    assert!(picture.starts_with(b"GIF89a"), "{picture:?}");
}

#[test]
fn rows_are_lines_with_the_columns_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let log = droid("session", 20, 1).replace("Please look", "ada@example.org: look");
    fs::write(folder.path().join("log"), log).unwrap();
    let arguments = ["export", "log", "--format", "jsonl", "--redact"];
    let output = foldline().args(arguments).current_dir(folder.path()).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["schema_version"], 1);
    let of = |table: &str| lines.iter().filter(|line| line["table"] == table).count();
    assert!(of("entries") > of("calls") && of("calls") > 0, "{lines:?}");
    assert_eq!(of("sessions"), 1);
    for line in &lines[1..] {
        let columns = lines[0]["tables"][line["table"].as_str().unwrap()].as_object().unwrap();
        assert_eq!(line.as_object().unwrap().len(), columns.len() + 1, "{line}");
    }
    let text = serde_json::to_string(&lines).unwrap();
    assert!(text.contains("email 1") && !text.contains("ada@"));
}

#[test]
fn a_dataset_needs_a_folder_and_its_feature() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log"), droid("session", 5, 1)).unwrap();
    let run = |arguments: &[&str]| {
        foldline().args(arguments).current_dir(folder.path()).output().unwrap()
    };
    assert_eq!(run(&["export", "log", "--format", "parquet"]).status.code(), Some(2));
    let output = run(&["export", "log", "--format", "parquet", "--out", "data"]);
    if !cfg!(feature = "parquet") {
        return assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    assert!(output.status.success(), "{output:?}");
    let data = folder.path().join("data");
    for table in ["sessions", "entries", "calls", "usage"] {
        let file = fs::read(data.join(format!("{table}.parquet"))).unwrap();
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"), "{table}");
    }
    // Partitions of a larger dataset would be read as rows of this one.
    fs::copy(data.join("calls.parquet"), data.join("calls-2.parquet")).unwrap();
    assert!(run(&["export", "log", "--format", "parquet", "--out", "data"]).status.success());
    assert_eq!(fs::read_dir(&data).unwrap().count(), 4);
}
