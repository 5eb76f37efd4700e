//! The files of an ingest: the logs that it finds, and the outputs that must not be among them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use foldline_agents::Registry;

use super::{
    args::IngestArgs,
    summary::{Skipped, Summary},
    walk,
};
use crate::{
    distinct::DistinctFiles, error::Error, files::companions, homes::existing, program::Program,
    sink::SinkName,
};

/// Finds the logs, with the files that state more about a named log, and checks that no output is one of them, or another output. Outputs in the folders that are
/// not logs are skipped.
pub(super) fn find(
    program: &Program,
    args: &IngestArgs,
    paths: &[PathBuf],
    db: &Path,
    summary: &mut Summary,
) -> Result<Vec<PathBuf>, Error> {
    let mut files = DistinctFiles::default();
    files.database(db)?;
    if let Some(audit) = &args.audit {
        files.output("--audit", audit)?;
    }
    if let Some(metrics) = &args.metrics {
        files.replaced("--metrics", metrics)?;
    }
    SinkName::name_files(&args.sinks, &mut files)?;
    if let Some(key) = &args.sign {
        files.input("the key", key)?;
    }
    files.stdout()?;
    files.stderr()?;
    for path in paths.iter().filter(|path| !path.is_dir()) {
        files.input("the log", path)?;
    }
    let mut logs = Vec::new();
    // A named executor reads the named logs only: a file next to them has another format.
    let companions = match args.executor.as_str() {
        "auto" => companions(&program.registry, paths),
        _ => Vec::new(),
    };
    let paths = [paths, &companions].concat();
    for path in walk::walk(&with_homes(&program.registry, &paths), args.hidden, summary) {
        match files.is_output(&path, &program.registry)? {
            true => summary.skip(&path, Skipped::Output),
            false => logs.push(path),
        }
    }
    Ok(logs)
}

/// Every file at or below the paths, and in the folders of agents there; and the errors of unreadable ones.
/// `hidden` includes hidden files and folders.
pub fn at_or_below(
    registry: &Registry,
    paths: &[PathBuf],
    hidden: bool,
) -> (Vec<PathBuf>, Vec<(PathBuf, String)>) {
    let mut summary = Summary::default();
    let found = walk::walk(&with_homes(registry, paths), hidden, &mut summary);
    (found, summary.into_failed())
}

/// The paths, and the folders of agents below them, which are read although they are hidden.
fn with_homes(registry: &Registry, paths: &[PathBuf]) -> Vec<PathBuf> {
    let full = |path: &Path| fs::canonicalize(path).ok();
    let folders: Vec<_> = paths.iter().filter_map(|path| full(path)).collect();
    let homes = existing(registry).into_iter().map(|home| home.folder);
    let below = homes.filter(|home| {
        full(home).is_some_and(|home| folders.iter().any(|folder| home.starts_with(folder)))
    });
    paths.iter().cloned().chain(below).collect()
}
