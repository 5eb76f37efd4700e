//! Numbers of a log are untrusted: with any values, no verb fails, and no answer about another log changes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::logs::{droid, run};

pub(crate) const EXTREMES: [&str; 7] = [
    "9223372036854775807",
    "18446744073709551615",
    "-9223372036854775808",
    "99999999999999999999999999",
    "1e308",
    "-1",
    "0.5",
];

fn logs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            logs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
}

/// The log with `number` as the value of every numeric field.
pub(crate) fn with_numbers(log: &str, number: &str) -> String {
    let mut parts = log.split_inclusive(':');
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (space, value) = part.split_at(part.len() - part.trim_start_matches(' ').len());
        let end = value.find([',', '}', ']']).unwrap_or(0);
        let is_number = value[..end].parse::<f64>().is_ok();
        let (value, rest) = if is_number { (number, &value[end..]) } else { ("", value) };
        replaced.extend([space, value, rest]);
    }
    replaced
}

fn must_succeed(arguments: &[&str]) {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
}

#[test]
fn no_verb_fails_for_an_extreme_number() {
    let folder = tempfile::tempdir().unwrap();
    let [written, db, html] =
        ["logs", "db", "html"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    fs::create_dir(&written).unwrap();
    let mut found = Vec::new();
    logs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures"), &mut found);
    let mut count = 0;
    for log in &found {
        let text = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
        for extreme in EXTREMES {
            let replaced = with_numbers(&text, extreme);
            if replaced != text {
                fs::write(format!("{written}/{count}.jsonl"), replaced).unwrap();
                count += 1;
            }
        }
    }
    assert!(count > 300, "{count} logs with numbers");
    fs::write(format!("{written}/usual.jsonl"), droid("usual", 3, 7)).unwrap();
    must_succeed(&["ingest", &written, "--db", &db]);
    must_succeed(&["check", "--db", &db]);

    let verbs = [
        "sessions",
        "sessions --sort cost",
        "sessions --sort duration",
        "sessions --sort failures",
        "sessions --sort tokens",
        "sessions --since 2026 --timezone Asia/Tokyo",
        "task list",
        "tools --sort slow",
        "errors",
        "files",
        "usage",
        "usage --by session",
        "usage --by day,model --chart",
        "search the",
        "show latest",
        "show usual",
    ];
    for verb in verbs {
        let arguments = verb.split(' ').chain(["--db", &db]).collect::<Vec<_>>();
        must_succeed(&arguments);
        if verb.starts_with("show") || verb.contains("--chart") {
            continue;
        }
        for format in ["json", "csv"] {
            must_succeed(&[&arguments[..], &["--format", format]].concat());
        }
    }
    must_succeed(&["usage", &written]);
    must_succeed(&["blocks", &written]);
    for number in 0..count {
        let log = format!("{written}/{number}.jsonl");
        // Each extreme with another fixture; all of them would take minutes.
        if number % 8 == 0 {
            must_succeed(&["replay", &log, "--format", "metrics"]);
            must_succeed(&["export", &log, "--format", "html", "--out", &html]);
        }
    }
}
