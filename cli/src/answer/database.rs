//! The database of an answer: the named database, or the default one, which can be rebuilt from logs.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use foldline::emitters::sqlite::{Database, SqliteError};
use tempfile::TempDir;

use crate::{
    distinct::DistinctFiles,
    error::Error,
    homes::{DatabaseOption, or_homes, tilde},
    program::Program,
    say::say,
    verbs::ingest,
};

/// The time that an answer waits for writers of the database.
const WAIT: Duration = Duration::from_secs(10);

/// The database that is asked.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DatabaseArgs {
    #[command(flatten)]
    database: DatabaseOption,

    /// Skip the update of the default database with new logs
    #[arg(long, global = true)]
    no_refresh: bool,
}

/// A database that is open for reading.
pub(crate) struct Opened {
    database: Database,
    /// The folder of a temporary database, which is removed after the database is closed.
    _folder: Option<TempDir>,
}

impl Deref for Opened {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

impl DatabaseArgs {
    /// The path of the database.
    pub(crate) fn path(&self) -> Result<PathBuf, Error> {
        self.database.path()
    }

    /// Opens the database for reading. The default database is updated first; if it is damaged, it stays
    /// unchanged, and a temporary database built from the same logs is used for this answer.
    pub(crate) fn open(&self, program: &Program) -> Result<Opened, Error> {
        let path = self.database.path()?;
        DistinctFiles::of_database(&path)?;
        if self.database.is_default()
            && !self.no_refresh
            && let Err(error) = ingest::refresh(program, &path)
        {
            return match is_damage(&error) {
                true => instead_of(&path, program),
                false => Err(error),
            };
        }
        Ok(Opened { database: Database::open_read_only(&path, WAIT)?, _folder: None })
    }
}

/// A temporary database of the same logs, for one answer.
fn instead_of(damaged: &Path, program: &Program) -> Result<Opened, Error> {
    say(&format!(
        "the database {} is damaged; this answer is read from the logs instead. foldline check --repair \
         repairs it, or move the file away, and it is rebuilt",
        tilde(damaged)
    ));
    let folder = tempfile::tempdir().map_err(Error::Output)?;
    let path = folder.path().join("foldline.db");
    ingest::fill(program, &or_homes(&[], &program.registry)?, &path)?;
    Ok(Opened { database: Database::open_read_only(&path, WAIT)?, _folder: Some(folder) })
}

fn is_damage(error: &Error) -> bool {
    match error {
        Error::Database(SqliteError::Damaged { .. } | SqliteError::NotADatabase(_)) => true,
        Error::Resumable(error) => is_damage(error),
        _ => false,
    }
}
