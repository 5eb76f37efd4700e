//! The files of an ingest: the logs that it finds, and the outputs that must not be among them.

use std::path::{Path, PathBuf};

use super::{
    args::IngestArgs,
    summary::{Skipped, Summary},
};
use crate::{
    distinct::DistinctFiles,
    error::Error,
    finder::{companions, find as find_logs},
    program::Program,
    sink::SinkName,
};

/// Finds the logs, with the files that state more about a named log, and checks that no output is one of them, or
/// another output. Outputs in the folders that are not logs are skipped.
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
    // A named executor reads the named logs only: a file next to them has another format.
    let companions = match args.executor.as_str() {
        "auto" => companions(&program.registry, paths),
        _ => Vec::new(),
    };
    let found = find_logs(&program.registry, &[paths, &companions].concat(), args.hidden);
    found.broken.iter().for_each(|path| summary.skip(path, Skipped::BrokenLink));
    found.no_files.iter().for_each(|path| summary.skip(path, Skipped::NoFile));
    found.failed.into_iter().for_each(|(path, why)| summary.fail(&path, why));
    let mut logs = Vec::new();
    for path in found.files {
        match files.is_output(&path, &program.registry)? {
            true => summary.skip(&path, Skipped::Output),
            false => logs.push(path),
        }
    }
    Ok(logs)
}
