//! Finds the files below the given paths.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use super::summary::{Skipped, Summary};

/// Every file at or below `paths`, by its full path, once, in the order of the paths.
///
/// Hidden files and folders are skipped unless they are named, or `hidden` is set. Links to
/// files are followed, links to folders are not.
pub(super) fn walk(paths: &[PathBuf], hidden: bool, summary: &mut Summary) -> Vec<PathBuf> {
    let mut walk = Walk { hidden, summary, found: BTreeSet::new() };
    for path in paths {
        let visited = fs::canonicalize(path).and_then(|full| {
            if fs::metadata(&full)?.is_dir() { walk.folder(&full) } else { walk.file(full) }
        });
        walk.note(path, visited);
    }
    walk.found.into_iter().collect()
}

struct Walk<'s> {
    hidden: bool,
    summary: &'s mut Summary,
    found: BTreeSet<PathBuf>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
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
                } else {
                    self.file(fs::canonicalize(&path)?)
                }
            });
            self.note(&path, visited);
        }
        Ok(())
    }

    fn link(&mut self, path: &Path) -> io::Result<()> {
        match fs::metadata(path) {
            Ok(target) if target.is_dir() => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.summary.skip(path, Skipped::BrokenLink);
                Ok(())
            }
            _ => self.file(fs::canonicalize(path)?),
        }
    }

    fn file(&mut self, path: PathBuf) -> io::Result<()> {
        if fs::metadata(&path)?.is_file() {
            self.found.insert(path);
        } else {
            self.summary.skip(&path, Skipped::NoFile);
        }
        Ok(())
    }

    fn note(&mut self, path: &Path, visited: io::Result<()>) {
        if let Err(error) = visited {
            self.summary.fail(path, error.to_string());
        }
    }
}
