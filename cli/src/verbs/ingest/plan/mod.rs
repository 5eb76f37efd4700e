//! [`Planner`]: decides what to read of each file.
//!
//! Files are identified by content, not by name. A file that is a prefix of another file or of a stored source
//! is a copy, which adds nothing. Every other file is one source: the stored source whose content it begins
//! with, or a new source. So the database depends neither on the order in which files are found nor on how
//! often they are read.
//!
//! A database or a document of an agent is identified by its path or inode. If it has not only grown, it replaces what
//! was read of it.
//!
//! Nothing is read of a source that was forgotten, nor of its copies.
//!
//! Not detected: a copy of an earlier state of a log that was deleted, if no run saw both; and a change that
//! the system does not record ([`Identity::is_untouched_since`]).

mod dedup;
mod found;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

use foldline::ledger::{Checkpoint, Identity, SourceName};
use foldline::source::{Openers, SourceError, status};
use foldline_agents::Registry;
use foldline_database::sqlite::{Copy, Database, Known, Settled};
use foldline_domain::Digest;

use self::{
    dedup::{ContentDedup, Decision},
    found::Found,
};
use super::{
    args::{IngestArgs, TaskFrom},
    summary::{Skipped, Summary},
};
use crate::{error::Error, finder::is_compressed_name, program::Program};

/// The plan for a file.
pub(super) struct Plan {
    pub(super) path: PathBuf,
    /// The identity of the file that was found; the file that is read must have the same one.
    pub(super) found: Identity,
    /// Whether it was a database or a document then. One that was empty at that moment, while its agent wrote it, was not.
    pub(super) is_rewritten: bool,
    /// The name of the file in the ledger.
    pub(super) name: SourceName,
    /// The task of new sessions in the file.
    pub(super) task: Option<String>,
    /// `auto`, or the name of the executor.
    executor: String,
    pub(super) start: Start,
    /// Whether to finish the reducer at the end.
    pub(super) complete: bool,
}

/// The start of reading.
pub(super) enum Start {
    /// At the beginning of a new file.
    New,
    /// At its checkpoint.
    Resume(Box<Checkpoint>),
    /// At the beginning, because it cannot be resumed: its stored output is replaced.
    Again(Box<Checkpoint>),
    /// Nothing is read; only the path and the identity of the file are updated.
    Update(Box<Checkpoint>),
}

impl Plan {
    /// The number of bytes to read.
    pub(super) fn bytes(&self) -> u64 {
        match &self.start {
            Start::Resume(checkpoint) => self.found.size.saturating_sub(checkpoint.position.offset),
            Start::New | Start::Again(_) => self.found.size,
            Start::Update(_) => 0,
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

/// What a first look at a file shows.
enum Seen {
    /// It has not changed since it was read, or found to be a copy.
    Settled(Box<Settled>),
    /// It is to be compared.
    Found(Box<Found>),
    /// It cannot be read.
    Failed(SourceError),
}

/// Compares the existing files with each other, and with the stored sources.
pub(super) struct Planner<'a> {
    database: &'a Database,
    args: &'a IngestArgs,
    registry: &'a Registry,
    openers: Openers,
    summary: &'a mut Summary,
    /// Files that are known, by device and inode.
    settled: HashMap<(u64, u64), Settled>,
    /// The sources that are assigned to a file.
    claimed: BTreeSet<SourceName>,
    /// The sources that were forgotten.
    forgotten: BTreeSet<SourceName>,
    /// The names of new sources.
    named: BTreeSet<SourceName>,
    plans: Vec<Plan>,
    copies: Vec<Copy>,
}

/// The work to do.
pub(super) struct Planned {
    /// The plans of all files with anything to read, in the order of their paths.
    pub(super) plans: Vec<Plan>,
    /// The copies to record after everything is read.
    pub(super) copies: Vec<Copy>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        database: &'a Database,
        args: &'a IngestArgs,
        program: &'a Program,
        summary: &'a mut Summary,
    ) -> Self {
        let (registry, openers) = (&program.registry, program.openers());
        let (settled, claimed, named) = (HashMap::new(), BTreeSet::new(), BTreeSet::new());
        let (plans, copies, forgotten) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self {
            database,
            args,
            registry,
            openers,
            summary,
            settled,
            claimed,
            forgotten,
            named,
            plans,
            copies,
        }
    }

    /// Compares the files. The summary counts the files with nothing to read.
    pub(super) fn plan(mut self, files: &[PathBuf]) -> Result<Planned, Error> {
        // One transaction for all queries.
        let database = self.database;
        let transaction = database.connection().unchecked_transaction();
        let _reads = transaction.map_err(|error| database.error(&error))?;
        let settled = database.settled()?.into_iter();
        self.settled = settled
            .filter_map(|settled| Some((settled.file.device.zip(settled.file.inode)?, settled)))
            .collect();
        let seen: Vec<_> = files.iter().map(|path| (path, self.look(path))).collect();
        let begins = |seen: &Seen| match seen {
            Seen::Found(found) => Some(found.first_line),
            Seen::Settled(_) | Seen::Failed(_) => None,
        };
        let begun: BTreeSet<Digest> = seen.iter().filter_map(|(_, seen)| begins(seen)).collect();
        let (mut by_beginning, mut names) =
            (BTreeMap::<Digest, Vec<Found>>::new(), BTreeMap::new());
        for (path, seen) in seen {
            let looked = match seen {
                Seen::Settled(known) => {
                    // Another file may be a copy of it, or have become what it is a copy of.
                    let is_alone = known.file.first_line.is_none_or(|line| !begun.contains(&line));
                    if is_alone && self.settle(path, &known, &mut names) {
                        continue;
                    }
                    Found::look(path, &self.openers)
                }
                Seen::Found(found) => Ok(*found),
                Seen::Failed(error) => Err(error),
            };
            let mut found = match looked {
                Ok(found) => found,
                // A file that cannot be read does not stop the others.
                Err(error) => {
                    self.summary.fail(path, Error::from(error).reason());
                    continue;
                }
            };
            if found.status.size == 0 {
                self.summary.skip(path, Skipped::Empty);
                continue;
            }
            if let Some(number) = found.number()
                && let Some(of) = names.insert(number, path.clone())
            {
                self.summary.skip(path, Skipped::OtherName { of });
                continue;
            }
            if found.is_rewritten {
                match self.rewritten(found)? {
                    Some(document) => found = document,
                    None => continue,
                }
            }
            found.copy_of = self.database.source_of_copy(&found.status)?.map(Box::new);
            by_beginning.entry(found.first_line).or_default().push(found);
        }
        for (first_line, files) in by_beginning {
            let known = self.known(first_line, &files)?;
            let forgotten = known.iter().filter(|known| known.is_forgotten);
            self.forgotten.extend(forgotten.map(|known| known.name.clone()));
            let mut copies = Vec::new();
            for known in &known {
                copies.extend(self.database.copies_of(&known.name)?);
            }
            let mut names = BTreeMap::new();
            for (found, decision) in
                ContentDedup::new(files, known, copies, &self.claimed, &self.openers).decide()
            {
                self.decided(found, decision, &mut names)?;
            }
        }
        let Self { mut plans, copies, .. } = self;
        plans.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Planned { plans, copies })
    }

    /// Looks at a file. The metadata of most files of most refreshes show that nothing is to be read of them: these are
    /// not even opened.
    fn look(&self, path: &Path) -> Seen {
        match self.settled(path) {
            Some(known) => Seen::Settled(Box::new(known.clone())),
            None => match Found::look(path, &self.openers) {
                Ok(found) => Seen::Found(Box::new(found)),
                Err(error) => Seen::Failed(error),
            },
        }
    }

    /// What is known of a file that has not changed since.
    fn settled(&self, path: &Path) -> Option<&Settled> {
        let status = status(&fs::metadata(path).ok()?);
        let known = self.settled.get(&status.device.zip(status.inode)?)?;
        // The size of a compressed file is not that of its content, and an opener may read other files too.
        let is_plain = !is_compressed_name(path);
        let has_other_files = self.registry.named(&known.format).is_none_or(|executor| {
            executor.openers().iter().any(|opener| !opener.is_of_one_file())
        });
        let is_unchanged = status.changed.is_some()
            && status.changed == known.file.changed
            && (!is_plain || status.size == known.file.size);
        let is_as_asked = (known.complete || !self.args.complete) && self.args.task.is_none();
        let is_there = known.path == path.to_string_lossy();
        let is_source = is_there && (is_as_asked || known.is_forgotten);
        (is_unchanged && !has_other_files && (known.is_copy || is_source)).then_some(known)
    }

    /// Counts a file that has not changed; `false` if it has another name.
    fn settle(
        &mut self,
        path: &Path,
        known: &Settled,
        names: &mut BTreeMap<(u64, u64), PathBuf>,
    ) -> bool {
        let Some(number) = known.file.device.zip(known.file.inode) else { return false };
        if names.contains_key(&number)
            || (!known.is_copy && !self.claimed.insert(known.name.clone()))
        {
            return false;
        }
        names.insert(number, path.to_owned());
        match (known.is_copy, known.is_forgotten) {
            (true, is_forgotten) => {
                self.summary.skip(path, copy(known.path.clone().into(), is_forgotten));
            }
            (false, true) => self.summary.skip(path, Skipped::Forgotten),
            (false, false) => self.summary.unchanged += 1,
        }
        true
    }

    /// A database or a document that has only grown is read from its checkpoint; one that has changed is read again as
    /// a whole, even if all of its sessions were forgotten: others are added to a database. The content of a document
    /// that was moved or is new is to be compared with others.
    fn rewritten(&mut self, mut found: Found) -> Result<Option<Found>, Error> {
        let Some(known) = self.known_at(&found)? else {
            if found.is_document {
                found.measure()?;
                return Ok(Some(found));
            }
            let name = self.free_name(&found.path)?;
            self.push(found, name, Start::New);
            return Ok(None);
        };
        let Known { name, checkpoint, is_forgotten } = known;
        self.claimed.insert(name.clone());
        let before = &checkpoint.facts;
        let is_unchanged = found.status.is_untouched_since(&before.identity)
            && before.path == found.path.to_string_lossy();
        if is_unchanged && (checkpoint.complete || !self.args.complete) {
            self.summary.unchanged += 1;
            return Ok(None);
        }
        if is_forgotten && found.is_document {
            self.summary.skip(&found.path, Skipped::Forgotten);
            return Ok(None);
        }
        let length = before.identity.read.length;
        let has_grown = length > 0
            && !checkpoint.complete
            && before.identity.content.is_some()
            && found.begins_with(length, before.identity.content)?;
        let start = if has_grown { Start::Resume } else { Start::Again };
        self.push(found, name, start(Box::new(checkpoint)));
        Ok(None)
    }

    /// The source that is at the place of a file.
    fn known_at(&self, found: &Found) -> Result<Option<Known>, Error> {
        let mut known = self.database.sources_at(&found.path.to_string_lossy())?;
        if let Some((device, inode)) = found.number() {
            known.extend(self.database.sources_of_file(device, inode)?);
        }
        Ok(known.into_iter().find(|known| !self.claimed.contains(&known.name)))
    }

    /// The sources that these files may belong to.
    fn known(&self, first_line: Digest, files: &[Found]) -> Result<Vec<Known>, Error> {
        let mut known = self.database.sources_beginning(first_line)?;
        for found in files {
            known.extend(self.database.sources_at(&found.path.to_string_lossy())?);
            if let Some((device, inode)) = found.number() {
                known.extend(self.database.sources_of_file(device, inode)?);
            }
        }
        let mut names = BTreeSet::new();
        known.retain(|known| {
            names.insert(known.name.clone()) && known.checkpoint.facts.identity.read.length > 0
        });
        Ok(known)
    }

    /// `names` are the sources of the files that were already assigned.
    fn decided(
        &mut self,
        found: Found,
        decision: Decision,
        names: &mut BTreeMap<PathBuf, SourceName>,
    ) -> Result<(), Error> {
        let path = &found.path;
        match decision {
            Decision::Failed(error) => self.summary.fail(path, error.reason()),
            Decision::Copy { original, content, of } => {
                let source = of.or_else(|| names.get(&original).cloned());
                let is_forgotten =
                    source.as_ref().is_some_and(|source| self.forgotten.contains(source));
                if let Some((source, content)) = source.zip(content) {
                    self.copies.push(Copy { source, content, file: found.status });
                }
                self.summary.skip(path, copy(original, is_forgotten));
            }
            Decision::New => {
                let name = self.free_name(path)?;
                names.insert(path.clone(), name.clone());
                self.push(found, name, Start::New);
            }
            Decision::Continues(known) => {
                let Known { name, checkpoint, is_forgotten } = *known;
                self.claimed.insert(name.clone());
                names.insert(path.clone(), name.clone());
                if is_forgotten {
                    self.summary.skip(path, Skipped::Forgotten);
                    return Ok(());
                }
                if self.args.task.is_some() && checkpoint.facts.task != self.task(path) {
                    self.summary.other_task += 1;
                }
                match self.start(&found, checkpoint) {
                    Some(start) => self.push(found, name, start),
                    None => self.summary.unchanged += 1,
                }
            }
        }
        Ok(())
    }

    fn start(&self, found: &Found, checkpoint: Checkpoint) -> Option<Start> {
        let Identity { size, changed, .. } = found.status;
        let before = &checkpoint.facts.identity;
        let is_untouched = found.status.is_untouched_since(before);
        // The rest of an unchanged file is still the beginning of a record.
        let has_grown = size > checkpoint.position.offset && !is_untouched;
        if checkpoint.complete && has_grown {
            return Some(Start::Again(Box::new(checkpoint)));
        }
        let has_moved = checkpoint.facts.path != found.path.to_string_lossy()
            || !found.status.is_same_file(before)
            || (changed.is_some() && changed != before.changed);
        let finishes = self.args.complete && !checkpoint.complete;
        // Its last turn may have become quiet, which a collector is told.
        let is_open = self.args.sends() && before.changed.is_none() && !checkpoint.complete;
        match () {
            () if has_grown || finishes || is_open => Some(Start::Resume(Box::new(checkpoint))),
            () if has_moved => Some(Start::Update(Box::new(checkpoint))),
            () => None,
        }
    }

    fn push(&mut self, found: Found, name: SourceName, start: Start) {
        let Found { path, status: found, is_rewritten, .. } = found;
        let executor = self.args.executor.clone();
        let (task, complete) = (self.task(&path), self.args.complete);
        self.plans.push(Plan { path, found, is_rewritten, name, task, executor, start, complete });
    }

    fn free_name(&mut self, path: &Path) -> Result<SourceName, Error> {
        let name = self.database.free_name(&path.to_string_lossy(), &self.named)?;
        self.named.insert(name.clone());
        Ok(name)
    }

    fn task(&self, path: &Path) -> Option<String> {
        if let Some(task) = &self.args.task {
            return Some(task.clone());
        }
        let name = match self.args.task_from {
            TaskFrom::Dir => path.parent()?.file_name()?,
            TaskFrom::File => path.file_stem()?,
            TaskFrom::Session => return None,
        };
        Some(name.to_string_lossy().into_owned())
    }
}

/// Why a copy adds nothing.
fn copy(original: PathBuf, is_forgotten: bool) -> Skipped {
    if is_forgotten { Skipped::Forgotten } else { Skipped::Copy { original } }
}
