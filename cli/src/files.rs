//! Expands a list of paths to files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::error::Error;

/// The files that `paths` name, and those in the folders that they name, however deep: sorted within
/// each folder, hidden ones left out. A file that is named itself is always included.
pub(super) fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        find_in(path, &mut files).map_err(|error| Error::Input { path: path.clone(), error })?;
    }
    Ok(files)
}

fn find_in(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path == Path::new("-") || !fs::metadata(path)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let kind = entry.file_type()?;
        // Links are not followed, since they may form a cycle; name a linked log itself.
        if hidden || kind.is_symlink() {
            continue;
        }
        let path = entry.path();
        if kind.is_dir() {
            find_in(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "jsonl" || extension == "json")
        {
            files.push(path);
        }
    }
    Ok(())
}
