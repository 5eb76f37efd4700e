//! [`Outputs`]: the audit trail, and the outputs of sinks, that belong to a database.
//!
//! Their data is first committed to the database, together with the rows of the same events, and then copied
//! into the files, or sent to a collector. A file therefore contains only committed data. It is locked before the file or its stored
//! state is read, and a file with contents that this database did not write is rejected and stays unchanged.

mod file;
mod paths;
#[cfg(feature = "otlp")]
mod sent;
mod totals;
mod trail;

use std::{io, path::Path, time::Duration};

use foldline::ledger::{Commit, CommitError, Ledger, Mark, Receipt};
use foldline_database::{
    Rows,
    sqlite::{Database, SqliteError},
};
use foldline_domain::{Json, audit::AuditChain};
use foldline_otlp::UsageTotals;
use foldline_render::human;
use serde::{Deserialize, Serialize};

pub(crate) use self::paths::OutputPaths;
#[cfg(feature = "otlp")]
use self::sent::SentOutput;
pub(crate) use self::trail::{MAX_FIRST, StoredTrail};
pub use self::trail::{TrailRecords, whole_trails};
use self::{
    file::{FileState, LockedFile, OutputFile},
    totals::SavedTotals,
    trail::Trail,
};
#[cfg(feature = "otlp")]
use crate::sink::Endpoints;
use crate::{
    error::Error,
    sink::{Gathered, TotalsPoints, Written},
    verbs::audit_key::signing_key,
};

/// The outputs of a database.
pub struct Outputs {
    trail: Option<Trail>,
    sinks: Vec<SinkFile>,
    /// The output for a collector, with the name of its sink.
    #[cfg(feature = "otlp")]
    sent: Option<(&'static str, SentOutput)>,
    /// The number of commits of the database. All commits since the outputs were opened include these outputs.
    commits: u64,
}

/// The file of a sink.
struct SinkFile {
    name: &'static str,
    file: OutputFile,
    memory: SinkMemory,
}

/// The stored state of the file of a sink.
#[derive(Default, Serialize, Deserialize)]
struct SinkMemory {
    /// The reason why events are missing in the file, so that later runs do not append to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// The totals in the file, for OpenTelemetry.
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<SavedTotals>,
}

/// The state of the outputs before changes that may be rolled back.
#[derive(Clone)]
pub struct OutputsState {
    chain: Option<AuditChain>,
    commits: u64,
    /// The length of what was committed for a collector.
    #[cfg(feature = "otlp")]
    sent: u64,
}

impl Outputs {
    /// Opens an audit trail, which may be signed with the key in a file, and the files of sinks, and writes
    /// data that an earlier run has committed but not written. `wait` limits the time to wait for a program
    /// that writes to one of the files. Also returns messages about a gap in the trail,
    /// and about records without a signature.
    ///
    /// # Errors
    /// A file cannot be read, written or locked, or belongs to another database.
    pub fn open(
        audit: Option<&Path>,
        key: Option<&Path>,
        sinks: &[(&'static str, &Path)],
        wait: Duration,
        database: &mut Database,
    ) -> Result<(Self, Vec<String>), Error> {
        let key = key.map(signing_key).transpose()?;
        let trail = audit.map(|path| LockedFile::open(path, wait)).transpose()?;
        let mut locked = Vec::new();
        for &(name, path) in sinks {
            locked.push((name, LockedFile::open(path, wait)?));
        }
        // From here on, no other run changes the stored state of the files.
        let commits = database.commits()?;
        let mut outputs = Self {
            trail: None,
            sinks: Vec::new(),
            #[cfg(feature = "otlp")]
            sent: None,
            commits,
        };
        let mut notes = Vec::new();
        if let Some(file) = trail {
            let (trail, missed) = Trail::open(file, key, database, commits)?;
            let path = trail.file().path().display();
            notes.extend(missed.map(|missed| {
                let missed = human::number_of(missed, "commit");
                format!(
                    "the audit trail {path} has a gap, and records it: {missed} made without it"
                )
            }));
            if trail.ends_signing() {
                notes.push(format!(
                    "the audit trail is signed, and what this run adds to it is not, without --sign: {path}"
                ));
            }
            outputs.trail = Some(trail);
        }
        for (name, file) in locked {
            let (file, memory) = open_sink(name, file, database, commits)?;
            outputs.sinks.push(SinkFile { name, file, memory });
        }
        let is_unsigned = outputs.trail.as_ref().is_some_and(Trail::is_unsigned);
        if is_unsigned || outputs.staged_length() > 0 {
            outputs.commit(database, &[], &[])?;
        }
        Ok((outputs, notes))
    }

    /// Adds an output for a collector, and sends what an earlier run has committed and the collector has not taken.
    /// Returns a message about commits that were made without the output.
    #[cfg(feature = "otlp")]
    pub(crate) fn send_to(
        &mut self,
        sink: &'static str,
        endpoints: Endpoints,
        database: &mut Database,
    ) -> Result<Option<String>, Error> {
        let address = endpoints.to_string();
        let (mut sent, missed) = SentOutput::open(sink, endpoints, database, self.commits)?;
        sent.deliver(database)?;
        self.sent = Some((sink, sent));
        self.commit_only(database, &[], &[])?;
        Ok((missed > 0).then(|| {
            let missed = human::number_of(missed, "commit");
            format!("{address} does not get what was read without --sink {sink}, in {missed}")
        }))
    }

    /// Sends the rest to a collector. Returns messages about what it did not get.
    #[cfg(feature = "otlp")]
    pub(crate) fn send_rest(&mut self, database: &mut Database) -> Result<Vec<String>, Error> {
        let Some((_, sent)) = &mut self.sent else { return Ok(Vec::new()) };
        let notes = sent.finish(database)?;
        if sent.has_delivered() {
            self.commit_only(database, &[], &[])?;
        }
        Ok(notes)
    }

    /// Adds the output of a segment.
    ///
    /// # Errors
    /// The collected bytes or the database cannot be read.
    pub(crate) fn add(
        &mut self,
        records: Option<&TrailRecords>,
        gathered: Gathered,
        database: &Database,
    ) -> Result<(), Error> {
        if let Some(records) = records {
            self.add_records(records, database)?;
        }
        for Written { sink, bytes } in gathered {
            #[cfg(feature = "otlp")]
            if let Some((_, sent)) = self.sent.as_mut().filter(|(name, _)| *name == sink) {
                let mut lines = Vec::new();
                let read = bytes.read(|bytes| {
                    lines.extend_from_slice(bytes);
                    io::Result::Ok(())
                });
                read.map_err(Error::Output)?;
                let rewritten = records.filter(|records| records.is_rewritten);
                let rewritten = rewritten.map(|records| records.log.as_str().into());
                sent.add(&lines, rewritten.as_ref(), database)?;
                continue;
            }
            if let Some(SinkFile { file, .. }) = self.sinks.iter_mut().find(|it| it.name == sink) {
                let read = bytes.read(|bytes| {
                    file.staged().extend(bytes);
                    io::Result::Ok(())
                });
                read.map_err(Error::Output)?;
            }
        }
        Ok(())
    }

    /// Adds the points of the totals that have changed to the output of a sink, and commits them. `count` gets the totals
    /// of the last points, and returns `None` if new ones are not due.
    ///
    /// # Errors
    /// The totals cannot be counted, or the database or a file cannot be written.
    pub(crate) fn add_totals(
        &mut self,
        sink: &str,
        database: &mut Database,
        count: impl FnOnce(&Database, &UsageTotals) -> Result<Option<TotalsPoints>, Error>,
    ) -> Result<(), Error> {
        let commits = self.commits;
        let (saved, staged) = match self.sinks.iter_mut().find(|it| it.name == sink) {
            Some(SinkFile { file, memory, .. }) => {
                (memory.totals.get_or_insert_default(), file.staged())
            }
            #[cfg(feature = "otlp")]
            None => match self.sent.as_mut().filter(|(name, _)| *name == sink) {
                Some((_, sent)) => sent.totals_and_staged(),
                None => return Ok(()),
            },
            #[cfg(not(feature = "otlp"))]
            None => return Ok(()),
        };
        let Some(before) = saved.outdated(commits) else { return Ok(()) };
        let Some(points) = count(database, before)? else { return Ok(()) };
        staged.extend(saved.replace(commits, points));
        self.commit_only(database, &[], &[])?;
        self.deliver(database)
    }

    /// Records that a sink failed, so that events are missing in its file.
    pub(crate) fn fail(&mut self, name: &str, reason: String) {
        if let Some(sink) = self.sinks.iter_mut().find(|sink| sink.name == name) {
            sink.memory.failure.get_or_insert(reason);
        }
    }

    /// Adds the records of a segment to the trail, if there is one.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn add_records(
        &mut self,
        records: &TrailRecords,
        database: &Database,
    ) -> Result<(), SqliteError> {
        self.trail.as_mut().map_or(Ok(()), |trail| trail.append(records, database))
    }

    /// The number of bytes that wait for a commit.
    pub(crate) fn staged_length(&self) -> usize {
        let files = self.files().map(OutputFile::staged_length).sum::<usize>();
        #[cfg(feature = "otlp")]
        let files = files + self.sent.as_ref().map_or(0, |(_, sent)| sent.staged_length());
        files
    }

    /// Commits segments together with their output and with the marks `beside`, and then writes the output to
    /// the files.
    ///
    /// # Errors
    /// Nothing was committed, because the position of a source is not the beginning of its segment, or because
    /// the database cannot be written. Or the segments were committed, and a file cannot be written.
    pub fn commit(
        &mut self,
        database: &mut Database,
        commits: &[Commit<Rows>],
        beside: &[Mark],
    ) -> Result<Receipt, CommitError<Error>> {
        if self.is_empty() {
            return database.commit(commits, beside).map_err(failed);
        }
        let receipt = self.commit_only(database, commits, beside)?;
        self.deliver(database)?;
        // A file shows what was written to it, and a collector does not.
        #[cfg(feature = "otlp")]
        if self.sent.as_ref().is_some_and(|(_, sent)| sent.has_delivered()) {
            self.commit_only(database, &[], &[])?;
        }
        Ok(receipt)
    }

    /// Writes committed data to the files. Within a replacement nothing is committed yet.
    pub(crate) fn deliver(&mut self, database: &Database) -> Result<(), Error> {
        if !database.connection().is_autocommit() {
            return Ok(());
        }
        for file in self.files_mut() {
            file.deliver(database)?;
        }
        #[cfg(feature = "otlp")]
        if let Some((_, sent)) = &mut self.sent {
            sent.deliver(database)?;
        }
        Ok(())
    }

    /// The state to restore if later commits are rolled back.
    pub fn state(&self) -> OutputsState {
        let chain = self.trail.as_ref().map(|trail| trail.chain().clone());
        OutputsState {
            chain,
            commits: self.commits,
            #[cfg(feature = "otlp")]
            sent: self.sent.as_ref().map_or(0, |(_, sent)| sent.committed()),
        }
    }

    /// Restores a state since which nothing was written to the files.
    pub fn restore(&mut self, state: OutputsState) {
        let OutputsState { chain, commits, .. } = state;
        self.commits = commits;
        #[cfg(feature = "otlp")]
        if let Some((_, sent)) = &mut self.sent {
            sent.undo(state.sent);
        }
        if let Some((trail, chain)) = self.trail.as_mut().zip(chain) {
            trail.set_chain(chain);
        }
        self.files_mut().for_each(OutputFile::undo);
    }

    /// Empties the outbox, since all files are synchronized.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn finish(mut self, database: &mut Database) -> Result<(), Error> {
        let has_failed = self.sinks.iter().any(|sink| sink.memory.failure.is_some());
        if !has_failed && !self.files().any(OutputFile::has_delivered) {
            return Ok(());
        }
        match self.commit_only(database, &[], &[]) {
            // Later commits of another program stay in the outbox until the next run.
            Ok(_) | Err(CommitError::Failed(Error::Database(SqliteError::Overtaken(_)))) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn commit_only(
        &mut self,
        database: &mut Database,
        commits: &[Commit<Rows>],
        beside: &[Mark],
    ) -> Result<Receipt, CommitError<Error>> {
        let mut outputs = Vec::new();
        let next = self.commits + u64::from(!commits.is_empty());
        if let Some(trail) = &mut self.trail {
            outputs.push(trail.output(next)?);
        }
        for SinkFile { file, memory, .. } in &mut self.sinks {
            let memory = Json::of(memory).map_err(|error| Error::Output(error.into()))?;
            outputs.push(file.output(memory)?);
        }
        #[cfg(feature = "otlp")]
        if let Some((_, sent)) = &mut self.sent {
            outputs.push(sent.output()?);
        }
        let (receipt, commits) =
            database.commit_with(commits, &outputs, beside, self.commits).map_err(failed)?;
        self.commits = commits;
        Ok(receipt)
    }

    /// Whether there are no outputs.
    pub(crate) fn is_empty(&self) -> bool {
        #[cfg(feature = "otlp")]
        if self.sent.is_some() {
            return false;
        }
        self.trail.is_none() && self.sinks.is_empty()
    }

    fn files(&self) -> impl Iterator<Item = &OutputFile> {
        self.trail.iter().map(Trail::file).chain(self.sinks.iter().map(|sink| &sink.file))
    }

    fn files_mut(&mut self) -> impl Iterator<Item = &mut OutputFile> {
        let trail = self.trail.iter_mut().map(Trail::file_mut);
        trail.chain(self.sinks.iter_mut().map(|sink| &mut sink.file))
    }
}

fn failed(error: CommitError<SqliteError>) -> CommitError<Error> {
    match error {
        CommitError::Moved { source_name, expected, stored } => {
            CommitError::Moved { source_name, expected, stored }
        }
        CommitError::Failed(error) => CommitError::Failed(error.into()),
    }
}

/// The file of a sink. It cannot state a gap, so it must be complete.
fn open_sink(
    name: &str,
    file: LockedFile,
    database: &Database,
    commits: u64,
) -> Result<(OutputFile, SinkMemory), Error> {
    let name = format!("sink {name} {}", file.stored_path());
    let Some(known) = database.outputs()?.into_iter().find(|known| known.name == name) else {
        return Ok((file.begin(name)?, SinkMemory::default()));
    };
    let state: Result<FileState, _> = serde_json::from_str(known.state.get());
    let state = state.map_err(|error| Error::output(file.path(), &error.into()))?;
    let memory: Result<SinkMemory, _> = serde_json::from_str(state.memory.get());
    let memory = memory.map_err(|error| Error::output(file.path(), &error.into()))?;
    if let Some(failure) = &memory.failure {
        return Err(file.refuse(format!(
            "events are missing in it, as the output failed in an earlier run ({failure}); name another file"
        )));
    }
    if known.commits != commits {
        let missed = commits.saturating_sub(known.commits);
        return Err(file.refuse(format!(
            "it lacks {} made to the database without it; name another file",
            human::number_of(missed, "commit")
        )));
    }
    Ok((file.resume(name, state.written, database)?, memory))
}
