//! [`RunLog`]: the log of an agent that is running, and the database that it is read into.

use std::{io, path::PathBuf};

use foldline::emitters::sqlite::SqliteError;

use super::{args::IngestArgs, ingest};
use crate::{error::Error, exit, program::Program};

/// The log of an agent that is running, and the database that it is read into: as `ingest` would that is run
/// again and again, and in the end with `--final`.
pub(crate) struct RunLog {
    pub(crate) program: Program,
    pub(crate) log: PathBuf,
    pub(crate) db: PathBuf,
    pub(crate) task: Option<String>,
    pub(crate) audit: Option<PathBuf>,
}

/// How long to wait for another writer while the agent works: the next time will do as well.
const WAIT: u32 = 2;

/// How long to wait for another writer in the end, in seconds.
const LAST_WAIT: u32 = 10;

impl RunLog {
    /// Makes the database if there is none, and reads nothing: what cannot be written is said before the agent
    /// begins.
    pub(crate) fn prepare(&self) -> Result<(), Error> {
        match ingest(&self.program, &self.args("auto", WAIT), &[], &self.db) {
            Err(Error::Database(SqliteError::Locked(_))) if self.db.exists() => Ok(()),
            prepared => prepared.map(drop),
        }
    }

    /// Reads what there is, a log of this format.
    pub(crate) fn update(&self, format: &str) -> Result<(), Error> {
        let args = self.args(format, WAIT);
        ingest(&self.program, &args, std::slice::from_ref(&self.log), &self.db).map(drop)
    }

    /// Reads the rest: the log is complete. Returns the exit code.
    pub(crate) fn finish(&self, format: &str) -> Result<u8, Error> {
        let args = IngestArgs { complete: true, ..self.args(format, LAST_WAIT) };
        let logs = std::slice::from_ref(&self.log);
        let (summary, totals) = ingest(&self.program, &args, logs, &self.db)?;
        if !summary.has_failures() {
            return Ok(exit::FINE);
        }
        summary.print(&mut io::stderr().lock(), totals).map_err(Error::Output)?;
        Ok(exit::FAILED)
    }

    fn args(&self, format: &str, wait: u32) -> IngestArgs {
        let (task, audit) = (self.task.clone(), self.audit.clone());
        IngestArgs { task, audit, executor: format.to_owned(), wait, ..IngestArgs::default() }
    }
}
