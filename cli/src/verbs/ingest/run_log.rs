//! [`RunLog`]: the log of an agent that is running, and the database that its rows are committed to.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use foldline::{
    ledger::{Commit, SourceFacts, SourceName},
    source::LogFile,
};
use foldline_database::sqlite::Database;
use foldline_domain::audit::EventRecords;

use super::{
    args::IngestArgs,
    fan::{Collected, Fan, fan_of},
    ingest,
    read::Segment,
    write,
};
use crate::{error::Error, exit, options::sentence_width, origin, program::Program, sink::Sinks};

/// The log of an agent that is running, and the database that its rows are committed to.
///
/// The writer of the log folds it, and commits the rows that the [`fan`](Self::fan) emits. If that fails
/// because another program writes to the database, [`update`](Self::update) reads the log from its stored
/// position; [`finish`](Self::finish) completes the stored rows, as `ingest --final` does.
pub(crate) struct RunLog {
    pub(crate) program: Program,
    pub(crate) log: PathBuf,
    pub(crate) db: PathBuf,
    pub(crate) task: Option<String>,
    pub(crate) audit: Option<PathBuf>,
}

/// The time to wait for another writer while the agent works; a later commit adds the rows otherwise.
const WAIT: u32 = 2;

/// The time to wait for another writer at the end, in seconds.
const LAST_WAIT: u32 = 10;

impl RunLog {
    /// Creates a missing database, and reads nothing, so that write errors are reported before the agent
    /// begins.
    pub(crate) fn prepare(&self) -> Result<(), Error> {
        match ingest(&self.program, &self.args("auto", WAIT), &[], &self.db) {
            Err(error) if error.is_in_use() && self.db.exists() => Ok(()),
            prepared => prepared.map(drop),
        }
    }

    /// The emitters of the rows of the log.
    pub(crate) fn fan(&self) -> Fan {
        fan_of(self.audit.is_some().then(EventRecords::default), Sinks::default())
    }

    /// The path of the log as stored in the database, even before the log exists.
    pub(crate) fn path(&self) -> String {
        let (folder, name) = (self.log.parent(), self.log.file_name());
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        let full = dunce::canonicalize(folder.unwrap_or(Path::new("."))).ok();
        let full = full.zip(name).map(|(folder, name)| folder.join(name));
        full.as_ref().unwrap_or(&self.log).to_string_lossy().into_owned()
    }

    /// The log as a new source of the database.
    pub(crate) fn source(&self, format: &str) -> (SourceName, SourceFacts) {
        let path = self.path();
        let wait = Duration::from_secs(WAIT.into());
        let name = Database::open_read_only(&self.db, wait)
            .and_then(|database| database.free_name(&path, &BTreeSet::new()));
        // The first commit rejects a name that is already used.
        let name = name.unwrap_or_else(|_| path.as_str().into());
        let (format, task) = (format.to_owned(), self.task.as_deref().map(Into::into));
        let (host, user) = (origin::host(), origin::user(&self.log));
        (name, SourceFacts { path, format, task, host, user, ..SourceFacts::default() })
    }

    /// Commits the rows collected since the previous commit.
    pub(crate) fn commit(&self, mut commit: Commit<Collected>, bytes: u64) -> Result<(), Error> {
        let checkpoint = &mut commit.checkpoint;
        let identity = LogFile::open_regular(&self.log)?.identity(checkpoint.position.offset)?;
        checkpoint.facts.identity = identity.unwrap_or_default();
        // The log grows, even if the system records no change.
        checkpoint.facts.identity.changed = None;
        let args = self.args(&checkpoint.facts.format, WAIT);
        write(&args, &self.db, vec![Segment::of(commit, bytes, false)])
    }

    /// Reads the part of the log that is not stored yet, in this format.
    pub(crate) fn update(&self, format: &str) -> Result<(), Error> {
        let args = self.args(format, WAIT);
        ingest(&self.program, &args, std::slice::from_ref(&self.log), &self.db).map(drop)
    }

    /// Reads the rest of the complete log. Returns the exit code.
    pub(crate) fn finish(&self, format: &str) -> Result<u8, Error> {
        let args = IngestArgs { complete: true, ..self.args(format, LAST_WAIT) };
        let logs = std::slice::from_ref(&self.log);
        let (summary, totals) = ingest(&self.program, &args, logs, &self.db)?;
        if !summary.has_failures() {
            return Ok(exit::SUCCESS);
        }
        summary.print(&mut io::stderr().lock(), totals, sentence_width()).map_err(Error::Output)?;
        Ok(exit::FAILED)
    }

    fn args(&self, format: &str, wait: u32) -> IngestArgs {
        let (task, audit) = (self.task.clone(), self.audit.clone());
        IngestArgs { task, audit, executor: format.to_owned(), wait, ..IngestArgs::default() }
    }
}
