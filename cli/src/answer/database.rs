//! The database of an answer: the named database; the default one, which is the memory of what agents did; or a
//! temporary one of named logs.

use std::{
    cell::Cell,
    fs::{self, File},
    io,
    ops::Deref,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use foldline::processor::DEFAULT_MAX_LINE;
use foldline_database::{
    Store,
    sqlite::{Database, Finding, SqliteError},
};
use foldline_render::terminal::neutralise_line;
use tempfile::TempDir;

use crate::{
    distinct::DistinctFiles,
    error::Error,
    exit,
    homes::{DatabaseOption, or_homes, tilde},
    log::Log,
    place::DatabasePlace,
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

    /// Ask these logs, or folders of logs, instead of a database; repeatable
    #[arg(long, value_name = "PATH", global = true, conflicts_with_all = ["db", "no_refresh"])]
    logs: Vec<PathBuf>,
}

/// A database that is open for reading.
pub(crate) struct Opened {
    engine: Engine,
    is_damaged: Cell<bool>,
    /// The exit code of the update: some logs may be missing.
    refreshed: u8,
    /// The folder of a temporary database, which is removed after the database is closed.
    _folder: Option<TempDir>,
}

enum Engine {
    File(Database),
    Server(Box<dyn Store>),
}

impl Opened {
    /// Opens a database for reading. Damage is reported on standard error: the rest of it can still be read.
    pub(crate) fn of(place: &DatabasePlace) -> Result<Self, Error> {
        match place {
            DatabasePlace::File(path) => Self::within(path, None),
            DatabasePlace::Server(_) => {
                let engine = Engine::Server(place.open(WAIT)?);
                Ok(Self {
                    engine,
                    is_damaged: Cell::default(),
                    refreshed: exit::SUCCESS,
                    _folder: None,
                })
            }
        }
    }

    fn within(path: &Path, folder: Option<TempDir>) -> Result<Self, Error> {
        let database = Database::open_read_only(path, WAIT)?;
        let is_damaged = Cell::new(is_damaged(&database)?);
        let (engine, refreshed) = (Engine::File(database), exit::SUCCESS);
        Ok(Self { engine, is_damaged, refreshed, _folder: folder })
    }

    /// A database that was opened and checked before.
    #[cfg(all(feature = "mcp", feature = "serve"))]
    pub(crate) fn checked(database: Box<dyn Store>) -> Self {
        let (engine, refreshed) = (Engine::Server(database), exit::SUCCESS);
        Self { engine, is_damaged: Cell::default(), refreshed, _folder: None }
    }

    /// Makes later queries fail at the end of this time, or when `is_unwanted` becomes true.
    #[cfg(feature = "mcp")]
    pub(crate) fn stop_when(
        &mut self,
        longest: Duration,
        is_unwanted: Box<dyn FnMut() -> bool + Send>,
    ) -> Result<(), Error> {
        let database: &mut dyn Store = match &mut self.engine {
            Engine::File(database) => database,
            Engine::Server(database) => &mut **database,
        };
        Ok(database.stop_when(longest, is_unwanted)?)
    }

    /// The database, if it is a file.
    pub(crate) fn file(&self) -> Option<&Database> {
        match &self.engine {
            Engine::File(database) => Some(database),
            Engine::Server(_) => None,
        }
    }

    /// Also checks the search index, for an answer that uses it.
    pub(crate) fn check_search_index(&self) -> Result<(), Error> {
        if let Some(database) = self.file().filter(|_| !self.is_damaged.get()) {
            self.is_damaged.set(report(database, database.search_damage()?));
        }
        Ok(())
    }

    /// Detects that a file was written while it was read without locks.
    pub(crate) fn confirm(&self) -> Result<(), Error> {
        Ok(self.file().map_or(Ok(()), Database::confirm)?)
    }

    /// The exit code of an answer from this database: it may lack something.
    pub(crate) fn exit_code(&self) -> u8 {
        if self.is_damaged.get() { exit::FAILED } else { self.refreshed }
    }
}

/// Whether a database is damaged, which is reported on standard error.
pub(crate) fn is_damaged(database: &Database) -> Result<bool, Error> {
    Ok(report(database, database.damage()?))
}

fn report(database: &Database, damage: Option<Finding>) -> bool {
    let Some(Finding { message, .. }) = damage else { return false };
    say(&neutralise_line(&format!(
        "the database {} is damaged: {message}. The answer may be wrong or incomplete. `foldline check` reports \
         further damage, and how to repair it",
        tilde(database.path())
    )));
    true
}

impl Deref for Opened {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        match &self.engine {
            Engine::File(database) => database,
            Engine::Server(database) => &**database,
        }
    }
}

impl DatabaseArgs {
    /// Where the database is.
    pub(crate) fn place(&self) -> Result<DatabasePlace, Error> {
        self.database.place()
    }

    /// The path of the database, if it is a file and no logs are asked.
    pub(crate) fn kept(&self) -> Option<PathBuf> {
        match self.database.place() {
            Ok(DatabasePlace::File(path)) if self.logs.is_empty() => Some(path),
            _ => None,
        }
    }

    /// The database as it was named on the command line.
    pub(crate) fn named(&self) -> Option<&Path> {
        self.database.named()
    }

    /// The path of the database, for what only works with a file.
    pub(crate) fn path(&self) -> Result<PathBuf, Error> {
        self.database.path()
    }

    /// Asks these logs instead of a database.
    pub(crate) fn or_logs(&self, logs: &[PathBuf]) -> Self {
        Self { logs: [&self.logs, logs].concat(), ..self.clone() }
    }

    /// Opens the database as it is, if it can be read, and otherwise as [`open`](Self::open). Also returns whether new
    /// logs are to be read into it.
    pub(crate) fn open_soon(&self, program: &Program) -> Result<(Opened, bool), Error> {
        let is_updated = self.logs.is_empty() && !self.no_refresh && self.database.is_default();
        let is_there = is_updated && self.kept().is_some_and(|path| path.exists());
        let as_it_is = Self { no_refresh: true, ..self.clone() };
        match is_there.then(|| as_it_is.open(program)) {
            Some(Ok(opened)) => Ok((opened, true)),
            _ => Ok((self.open(program)?, is_updated)),
        }
    }

    /// Opens the database for reading. The default database is updated first; if it is damaged, it stays
    /// unchanged, and a temporary database built from the same logs is used for this answer.
    pub(crate) fn open(&self, program: &Program) -> Result<Opened, Error> {
        if !self.logs.is_empty() {
            return of_logs(program, &self.logs);
        }
        let place = self.database.place()?;
        let DatabasePlace::File(path) = &place else { return Opened::of(&place) };
        DistinctFiles::of_database(path)?;
        let mut refreshed = exit::SUCCESS;
        if self.database.is_default() && !self.no_refresh {
            refreshed = match ingest::refresh(program, path) {
                Ok(refreshed) => refreshed,
                Err(error) if is_damage(&error) => return instead_of(path, program),
                Err(error) => return Err(error),
            };
        }
        Ok(Opened { refreshed, ..Opened::of(&place)? })
    }
}

/// A temporary database of the same logs, for one answer.
fn instead_of(damaged: &Path, program: &Program) -> Result<Opened, Error> {
    say(&format!(
        "the database {} is damaged; this answer is read from the logs that are still there. foldline check --repair \
         repairs it",
        tilde(damaged)
    ));
    of_logs(program, &or_homes(&[], &program.registry)?)
}

/// A temporary database of these logs, for one answer.
fn of_logs(program: &Program, logs: &[PathBuf]) -> Result<Opened, Error> {
    let folder = tempfile::tempdir().map_err(Error::Output)?;
    let logs: Vec<_> =
        logs.iter().map(|log| regular(program, log, folder.path())).collect::<Result<_, _>>()?;
    let path = folder.path().join("foldline.db");
    let refreshed = ingest::fill(program, &logs, &path)?;
    Ok(Opened { refreshed, ..Opened::within(&path, Some(folder))? })
}

/// The path of a log or a folder of logs; standard input (`-`) and a pipe are copied to the folder, since an ingest reads
/// files only. A file must be a log.
fn regular(program: &Program, named: &Path, folder: &Path) -> Result<PathBuf, Error> {
    let failed = |error| Error::Input { path: named.to_owned(), error };
    let mut path = named.to_owned();
    let is_pipe = || fs::metadata(named).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if named == Path::new("-") || is_pipe() {
        path = folder.join("standard-input.jsonl");
        let mut copy = File::create(&path).map_err(Error::Output)?;
        let copied = match named == Path::new("-") {
            true => io::copy(&mut io::stdin().lock(), &mut copy),
            false => File::open(named).and_then(|mut log| io::copy(&mut log, &mut copy)),
        };
        copied.map_err(failed)?;
    }
    if !path.is_dir() {
        let mut log = Log::open(&program.openers(), &path)?;
        log.executor(&program.registry, "auto", DEFAULT_MAX_LINE)?;
    }
    Ok(path)
}

fn is_damage(error: &Error) -> bool {
    match error {
        Error::Database(SqliteError::Damaged { .. } | SqliteError::NotADatabase(_)) => true,
        Error::Resumable(error) => is_damage(error),
        _ => false,
    }
}
