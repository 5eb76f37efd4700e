//! The outputs in the README equal those of the program.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::logs::foldline;

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// The words of a command; a word in double quotes may contain spaces.
pub(crate) fn words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (number, part) in command.split('"').enumerate() {
        match number % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    words
}

/// The output of a command of the README, in the home directory of the examples, on a terminal of 80 columns.
fn printed(home: &Path, command: &str) -> String {
    let mut program = foldline();
    program.env("HOME", home).env("COLUMNS", "80").env("TZ", "UTC").current_dir(home);
    let output = program.args(&words(command)[1..]).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The README with the outputs of today, in its blocks that begin with ```` ```console ````.
fn renewed(readme: &str, home: &Path) -> String {
    let mut renewed = String::new();
    let mut in_console = false;
    for line in readme.lines() {
        match line {
            "```console" => in_console = true,
            "```" if in_console => in_console = false,
            _ => {}
        }
        if !in_console || line == "```console" {
            renewed += line;
            renewed.push('\n');
        } else if let Some(command) =
            line.strip_prefix("$ ").filter(|it| it.starts_with("foldline"))
        {
            if !renewed.ends_with("```console\n") {
                renewed.push('\n');
            }
            renewed += line;
            renewed.push('\n');
            let output = printed(home, command);
            let lines: Vec<_> = output.trim_matches('\n').lines().map(str::trim_end).collect();
            renewed += &lines.join("\n");
            renewed.push('\n');
        }
    }
    renewed
}

/// `FOLDLINE_RENEW=1` writes them.
#[test]
fn its_outputs_are_those_of_the_program() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let place = tempfile::tempdir().unwrap();
    copy(&root.join("examples/home"), place.path());
    // The first answer reads the logs, and reports that.
    printed(place.path(), "foldline sessions");
    let path = root.join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    assert!(readme.matches("```console").count() > 5);
    let renewed = renewed(&readme, place.path());
    if std::env::var_os("FOLDLINE_RENEW").is_some() {
        return fs::write(&path, &renewed).unwrap();
    }
    for (is, should) in readme.lines().zip(renewed.lines()) {
        assert_eq!(is, should, "FOLDLINE_RENEW=1 renews the README");
    }
    assert_eq!(readme.len(), renewed.len());
}
