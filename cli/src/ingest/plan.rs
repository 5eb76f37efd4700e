//! [`Planner`]: decides what to read of each file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    args::{IngestArgs, TaskFrom},
    summary::{Skipped, Summary},
};
use crate::error::Error;
use foldline::{
    conversation::TaskId,
    emitters::sqlite::{Database, Known},
    ledger::{Checkpoint, Extent, Identity, SourceName},
    source::LogFile,
};

/// The plan for a file.
pub(super) struct Plan {
    pub(super) path: PathBuf,
    /// The name of the file in the ledger.
    pub(super) name: SourceName,
    /// The task of sessions that begin in it.
    pub(super) task: Option<TaskId>,
    /// `auto`, or the name of the executor.
    executor: String,
    pub(super) start: Start,
    /// The file's length when it was looked at.
    size: u64,
    /// Whether to finish the reducer at the end.
    pub(super) complete: bool,
}

/// Where reading begins.
pub(super) enum Start {
    /// At the beginning of a new file.
    New,
    /// At its checkpoint.
    Resume(Box<Checkpoint>),
    /// At the beginning, because it cannot be resumed: its stored output is replaced.
    Again(Box<Checkpoint>),
}

impl Plan {
    /// The number of bytes to read.
    pub(super) fn bytes(&self) -> u64 {
        match &self.start {
            Start::Resume(checkpoint) => self.size.saturating_sub(checkpoint.position.offset),
            Start::New | Start::Again(_) => self.size,
        }
    }

    /// The executor for reading from the beginning: the requested one, else the one of the earlier run, else
    /// `auto`.
    pub(super) fn executor(&self) -> &str {
        match &self.start {
            Start::Resume(before) | Start::Again(before) if self.executor == "auto" => {
                &before.facts.format
            }
            _ => &self.executor,
        }
    }

    /// The stored form of the path.
    pub(super) fn stored_path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

/// Compares the existing files with those that the database knows.
pub(super) struct Planner<'a> {
    database: &'a Database,
    args: &'a IngestArgs,
    /// The new files, by content.
    new: BTreeMap<Extent, PathBuf>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(database: &'a Database, args: &'a IngestArgs) -> Self {
        Self { database, args, new: BTreeMap::new() }
    }

    /// The plan for the file; `None` if there is nothing to read, which the summary counts.
    pub(super) fn plan(
        &mut self,
        path: &Path,
        summary: &mut Summary,
    ) -> Result<Option<Plan>, Error> {
        match self.try_plan(path, summary) {
            // A file that cannot be read does not stop the others.
            Err(error @ Error::Source(_)) => {
                summary.fail(path, error.reason());
                Ok(None)
            }
            plan => plan,
        }
    }

    fn try_plan(&mut self, path: &Path, summary: &mut Summary) -> Result<Option<Plan>, Error> {
        let mut log = LogFile::open_regular(path)?;
        let size = log.length()?.unwrap_or_default();
        if size == 0 {
            summary.skip(path, Skipped::Empty);
            return Ok(None);
        }
        let Some(whole) = log.identity(size)? else {
            summary.fail(path, "truncated while it was looked at".to_owned());
            return Ok(None);
        };
        let found = match self.find(&mut log, &whole)? {
            Ok(found) => found,
            Err(original) => {
                summary.skip(path, Skipped::Copy { original });
                return Ok(None);
            }
        };
        let stored_path = path.to_string_lossy().into_owned();
        let (name, start) = match found {
            None => (self.database.free_name(&stored_path)?, Start::New),
            Some(Known { name, checkpoint, .. }) => {
                if self.args.task.is_some() && checkpoint.facts.task != self.task(path) {
                    summary.other_task += 1;
                }
                let Some(start) = self.resume(size, checkpoint, path) else {
                    summary.unchanged += 1;
                    return Ok(None);
                };
                (name, start)
            }
        };
        let executor = self.args.executor.clone();
        let complete = self.args.complete;
        let task = self.task(path);
        let path = path.to_owned();
        Ok(Some(Plan { path, name, task, executor, start, size, complete }))
    }

    /// The known source of this file, or the path of the file of which it is a copy.
    fn find(
        &mut self,
        log: &mut LogFile,
        whole: &Identity,
    ) -> Result<Result<Option<Known>, PathBuf>, Error> {
        let path = log.path().to_string_lossy();
        let mut candidates = self.database.sources_at(&path)?;
        if let (Some(device), Some(inode)) = (whole.device, whole.inode) {
            candidates.extend(self.database.sources_of_file(device, inode)?);
        }
        for known in candidates {
            if log.starts_with(known.checkpoint.facts.identity.read)? {
                return Ok(Ok(Some(known)));
            }
        }
        let mut alike = self.database.sources_like(whole.read)?;
        let originals = alike.iter().map(|known| PathBuf::from(&known.checkpoint.facts.path));
        if let Some(original) = originals.into_iter().find(|original| original.exists()) {
            return Ok(Err(original));
        }
        if let Some(moved) = alike.pop() {
            return Ok(Ok(Some(moved)));
        }
        if let Some(original) = self.new.get(&whole.read) {
            return Ok(Err(original.clone()));
        }
        self.new.insert(whole.read, log.path().to_owned());
        Ok(Ok(None))
    }

    fn resume(&self, size: u64, checkpoint: Checkpoint, path: &Path) -> Option<Start> {
        let has_moved = checkpoint.facts.path != path.to_string_lossy();
        let has_grown = size > checkpoint.position.offset;
        if checkpoint.complete && has_grown {
            return Some(Start::Again(Box::new(checkpoint)));
        }
        let finishes = self.args.complete && !checkpoint.complete;
        (has_moved || has_grown || finishes).then(|| Start::Resume(Box::new(checkpoint)))
    }

    fn task(&self, path: &Path) -> Option<TaskId> {
        if let Some(task) = &self.args.task {
            return Some(task.as_str().into());
        }
        let name = match self.args.task_from {
            TaskFrom::Dir => path.parent()?.file_name()?,
            TaskFrom::File => path.file_stem()?,
            TaskFrom::Session => return None,
        };
        Some(name.to_string_lossy().into())
    }
}
