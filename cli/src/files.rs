//! Expands a list of paths to files.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use foldline_agents::Registry;

use super::{distinct::DistinctFiles, error::Error, homes::existing, program::Program};

/// A file to be read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// Whether the file itself was named, so that it may be a pipe or `-`. A file in a folder must not be a
    /// pipe, since opening a pipe waits for its writer.
    pub(super) is_named: bool,
}

/// The logs at or below `paths`, with the files that state more about a named log, except the files of standard output
/// and standard error.
pub(super) fn logs(program: &Program, paths: &[PathBuf]) -> Result<Vec<Found>, Error> {
    let mut outputs = DistinctFiles::default();
    outputs.stdout()?;
    outputs.stderr()?;
    for path in paths.iter().filter(|path| !path.is_dir()) {
        outputs.input("the log", path)?;
    }
    let mut logs = Vec::new();
    let companions = companions(&program.registry, paths);
    let homes: Vec<_> = existing(&program.registry).into_iter().map(|home| home.folder).collect();
    let companions = companions.into_iter().map(|path| Found { path, is_named: false });
    for mut found in find(paths)?.into_iter().chain(companions) {
        // The database of an agent need not have sessions.
        found.is_named &= !homes.contains(&found.path);
        if !outputs.is_output(&found.path, &program.registry)? {
            logs.push(found);
        }
    }
    Ok(logs)
}

/// The companion files of the named files, which state more about the same sessions.
pub(super) fn companions(registry: &Registry, paths: &[PathBuf]) -> Vec<PathBuf> {
    let named: BTreeSet<_> = paths.iter().collect();
    let endings: Vec<_> = registry.formats().filter_map(|format| format.companion).collect();
    let beside = endings
        .into_iter()
        .flat_map(|ending| paths.iter().filter_map(move |path| companion(path, ending)));
    beside.filter(|path| path.is_file() && !named.contains(path)).collect()
}

/// The path of the companion file with this ending, whether or not it exists.
pub(super) fn companion(log: &Path, ending: &str) -> Option<PathBuf> {
    let stem = log.file_stem()?.to_str()?;
    Some(log.with_file_name(format!("{stem}{ending}")))
}

/// The named files, and all files below the named folders, sorted within each folder, without hidden files. A
/// file that is named itself is always included.
pub(super) fn find(paths: &[PathBuf]) -> Result<Vec<Found>, Error> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let found = find_in(path, &mut files);
            found.map_err(|error| Error::Input { path: path.clone(), error })?;
        } else {
            files.push(Found { path: path.clone(), is_named: true });
        }
    }
    Ok(files)
}

fn find_in(folder: &Path, files: &mut Vec<Found>) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
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
            files.push(Found { path, is_named: false });
        }
    }
    Ok(())
}
