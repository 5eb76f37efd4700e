//! Finds logs: the files at or below named paths, and in the homes of agents there.
//!
//! Every verb finds logs here, and so does the shipper of the fleet, so that what is a log for one is a log for all.
//! Links are followed, to files and to folders; each file is found once, by its full path, which ends a cycle of links.

use std::{
    collections::{BTreeSet, HashSet},
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use foldline_agents::Registry;

use crate::homes::existing;

/// The endings of the names of logs, before those of compressed files.
const ENDINGS: [&str; 5] = ["jsonl", "json", "ndjson", "db", "vscdb"];

/// The endings of compressed files.
const COMPRESSED: [&str; 2] = ["gz", "zst"];

/// A path that could not be read, and why.
pub(crate) type Failure = (PathBuf, String);

/// What was found.
#[derive(Debug, Default)]
pub struct Search {
    /// The files by their full paths, in the order of the paths.
    pub files: BTreeSet<PathBuf>,
    /// What could not be read, and why.
    pub failed: Vec<Failure>,
    /// Links without a target.
    pub(crate) broken: Vec<PathBuf>,
    /// Pipes and devices.
    pub(crate) no_files: Vec<PathBuf>,
}

/// Every file at or below the paths, and in the homes of agents there. `hidden` includes hidden files and folders.
pub fn find(registry: &Registry, paths: &[PathBuf], hidden: bool) -> Search {
    let mut walk = Walk { hidden, folders: HashSet::new(), found: Search::default() };
    for path in with_homes(registry, paths) {
        let visited = dunce::canonicalize(&path).and_then(|full| {
            if fs::metadata(&full)?.is_dir() { walk.folder(&full) } else { walk.file(&full) }
        });
        walk.note(&path, visited);
    }
    walk.found
}

/// The companion files of the named files, which state more about the same sessions.
pub(crate) fn companions(registry: &Registry, paths: &[PathBuf]) -> Vec<PathBuf> {
    let named: BTreeSet<_> = paths.iter().collect();
    let endings: Vec<_> = registry.formats().filter_map(|format| format.companion).collect();
    let beside = endings
        .into_iter()
        .flat_map(|ending| paths.iter().filter_map(move |path| companion(path, ending)));
    beside.filter(|path| path.is_file() && !named.contains(path)).collect()
}

/// The path of the companion file with this ending, whether or not it exists.
pub(crate) fn companion(log: &Path, ending: &str) -> Option<PathBuf> {
    let stem = log.file_stem()?.to_str()?;
    Some(log.with_file_name(format!("{stem}{ending}")))
}

/// Whether a name is one that logs have.
pub(crate) fn is_log_name(path: &Path) -> bool {
    let ending = |path: &Path| path.extension().and_then(OsStr::to_str).map(str::to_owned);
    let stem = match ending(path) {
        Some(last) if COMPRESSED.contains(&&*last) => path.with_extension(""),
        _ => path.to_owned(),
    };
    ending(&stem).is_some_and(|last| ENDINGS.contains(&&*last))
}

/// Whether a name is that of a compressed file, whose size is not that of its content.
pub(crate) fn is_compressed_name(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|last| COMPRESSED.contains(&last))
}

/// The paths, and the homes of agents below them, which are read although they are hidden.
fn with_homes(registry: &Registry, paths: &[PathBuf]) -> Vec<PathBuf> {
    let full = |path: &Path| dunce::canonicalize(path).ok();
    let folders: Vec<_> = paths.iter().filter_map(|path| full(path)).collect();
    let homes = existing(registry).into_iter().map(|home| home.folder);
    let below = homes.filter(|home| {
        full(home).is_some_and(|home| folders.iter().any(|folder| home.starts_with(folder)))
    });
    paths.iter().cloned().chain(below).collect()
}

struct Walk {
    hidden: bool,
    /// The folders that were visited.
    folders: HashSet<PathBuf>,
    found: Search,
}

impl Walk {
    /// Visits a folder, given by its full path.
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        if !self.folders.insert(folder.to_owned()) {
            return Ok(());
        }
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if !self.hidden && entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            let visited = entry.file_type().and_then(|kind| {
                if kind.is_dir() {
                    self.folder(&path)
                } else if kind.is_symlink() {
                    self.link(&path)
                } else if kind.is_file() {
                    self.found.files.insert(path.clone());
                    Ok(())
                } else {
                    self.file(&path)
                }
            });
            self.note(&path, visited);
        }
        Ok(())
    }

    fn link(&mut self, path: &Path) -> io::Result<()> {
        match dunce::canonicalize(path) {
            Ok(full) if fs::metadata(&full)?.is_dir() => self.folder(&full),
            Ok(full) => self.file(&full),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.found.broken.push(path.to_owned());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Adds a file, given by its full path.
    fn file(&mut self, path: &Path) -> io::Result<()> {
        match fs::metadata(path)?.is_file() {
            true => drop(self.found.files.insert(path.to_owned())),
            false => self.found.no_files.push(path.to_owned()),
        }
        Ok(())
    }

    fn note(&mut self, path: &Path, visited: io::Result<()>) {
        if let Err(error) = visited {
            self.found.failed.push((path.to_owned(), error.to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whether_a_file_may_be_a_log() {
        let is_log = ["a.jsonl", "a.json", "x/a.jsonl.zst", "a.json.gz", "opencode.db"];
        assert!(is_log.iter().all(|name| is_log_name(Path::new(name))));
        assert!(
            !["a.txt", "a.gz", "zst", "a.md.gz"].iter().any(|name| is_log_name(Path::new(name)))
        );
        assert!(
            is_compressed_name(Path::new("a.jsonl.gz"))
                && !is_compressed_name(Path::new("a.jsonl"))
        );
    }
}
