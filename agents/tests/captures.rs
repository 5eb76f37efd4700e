//! The logs of the tests: fixtures in the repository, and captures of real logs outside of it.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folder of captured logs, with a folder per format: `FOLDLINE_CAPTURES`, or a folder next to the repository.
/// Without it, the tests read only the fixtures.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("FOLDLINE_CAPTURES").map(PathBuf::from);
    assert!(named.as_ref().is_none_or(|folder| folder.is_dir()), "{named:?} is not a folder");
    named.or_else(|| {
        let root = root();
        let mut above = root.ancestors().skip(1).map(|folder| folder.join("shared/captures"));
        above.find(|folder| folder.is_dir())
    })
}

/// All folders of captured logs: [`folder`], and folders of newer ones next to it.
pub(crate) fn folders() -> Vec<PathBuf> {
    let Some(folder) = folder() else { return Vec::new() };
    let beside = |ending: &str| {
        let mut newer = folder.clone().into_os_string();
        newer.push(ending);
        PathBuf::from(newer)
    };
    ["", "-new", "-q4"].map(beside).into_iter().filter(|folder| folder.is_dir()).collect()
}

/// The captures of a format.
pub(crate) fn of(format: &str) -> Vec<PathBuf> {
    // A format that two agents have, and files that are documents.
    let (names, extension): (&[&str], _) = match format {
        "pi" => (&["pi", "openclaw"], "jsonl"),
        "amp-thread" => (&["amp"], "json"),
        "gemini-session" => (&["gemini-session"], "json"),
        "opencode-session" => (&["opencode-storage"], "json"),
        // The files of a session are one log only by their opener.
        "grok" => return Vec::new(),
        format => (&[format], "jsonl"),
    };
    let mut found = Vec::new();
    for folder in folders() {
        for name in names {
            add(&folder.join(name), &["jsonl", extension], &mut found);
        }
    }
    found.retain(|log| format != "amp-thread" || log.extension().is_some_and(|it| it == "json"));
    // The parts of a session that is kept in several files are no logs.
    found.retain(|log| format != "opencode-session" || log.ends_with("toolpath-export.json"));
    found.sort();
    found
}

/// Adds the files in a folder and in the folders within it.
fn add(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add(&path, extensions, found);
        } else if path.extension().is_some_and(|it| extensions.iter().any(|known| it == *known)) {
            found.push(path);
        }
    }
}

/// The fixtures of a format: small, synthetic, one special case each.
pub(crate) fn fixtures(format: &str) -> Vec<PathBuf> {
    files(&root().join("tests/fixtures").join(format))
}

/// The logs in a folder, if it exists.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

/// Whether a log is regular: a capture, or a fixture without special cases.
pub(crate) fn is_regular(log: &Path) -> bool {
    let regular = ["session", "tools", "commands"];
    let stem = log.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    is_capture(log) || regular.contains(&stem)
}

/// Whether a log is a capture.
pub(crate) fn is_capture(log: &Path) -> bool {
    !log.starts_with(root().join("tests"))
}

/// The root of the repository.
fn root() -> PathBuf {
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = above.find(|folder| folder.join("tests/fixtures").is_dir());
    root.expect("the repository has fixtures").to_owned()
}
