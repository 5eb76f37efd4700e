//! [`Destination`]: the database of a sink.

use std::{
    collections::BTreeMap,
    mem,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use foldline::ledger::{Checkpoint, Commit, CommitError, Ledger, Mark, Receipt, SourceName};
use foldline_cli::shared::{DatabasePlace, Outputs, TrailRecords, whole_trails};
use foldline_database::{
    Rows, Store,
    postgres::{Postgres, PostgresError},
    query::Totals,
    sqlite::Database,
};
use foldline_domain::Json;

use crate::error::{Error, report};

/// The time that a reader waits for a program that blocks it.
const WAIT: Duration = Duration::from_secs(10);

/// How long a read waits for a server.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time between two attempts to connect.
const AGAIN: Duration = Duration::from_millis(500);

/// The database of a sink.
pub(crate) enum Destination {
    /// A file, and the audit trail next to it.
    File {
        database: Box<Database>,
        outputs: Box<Outputs>,
        /// Trails that were complete when the sink started.
        whole: BTreeMap<String, String>,
    },
    Server(Box<Postgres>),
}

impl Destination {
    /// Opens a database for writing, and an audit trail with its signing key, if requested.
    pub(crate) fn open(
        place: &DatabasePlace,
        trail: Option<(&Path, Option<&Path>)>,
        wait: Duration,
    ) -> Result<Self, Error> {
        match place {
            DatabasePlace::File(path) => {
                let mut database = Box::new(Database::open_sound(path, wait)?);
                let whole = whole_trails(&database)?;
                let (audit, key) = trail.unzip();
                let (outputs, notes) =
                    Outputs::open(audit, key.flatten(), &[], wait, &mut database)?;
                notes.iter().for_each(|note| report(note));
                Ok(Self::File { database, outputs: Box::new(outputs), whole })
            }
            DatabasePlace::Server(_) if trail.is_some() => Err(Error::WrongUse(
                "an audit trail belongs to a database file: --audit works without postgresql://"
                    .to_owned(),
            )),
            DatabasePlace::Server(address) => Ok(Self::Server(Box::new(Postgres::open(address)?))),
        }
    }

    /// The marks of the database.
    pub(crate) fn marks(&mut self) -> Result<Vec<Mark>, Error> {
        match self {
            Self::File { database, .. } => outputs(database),
            Self::Server(database) => again(database, |database| Ok(database.marks()?)),
        }
    }

    pub(super) fn mark(&mut self, name: &str) -> Result<Option<Json>, Error> {
        match self {
            Self::File { database, .. } => Ok(database.mark(name)?),
            Self::Server(database) => again(database, |database| Ok(database.mark(name)?)),
        }
    }

    pub(super) fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, Error> {
        match self {
            Self::File { database, .. } => Ok(database.load(source)?),
            Self::Server(database) => again(database, |database| Ok(database.load(source)?)),
        }
    }

    /// Whether all sessions of a source were forgotten.
    pub(super) fn is_forgotten(&mut self, source: &SourceName) -> Result<bool, Error> {
        let name = source.as_str();
        match self {
            Self::File { database, .. } => Ok(database.is_forgotten(name)?),
            Self::Server(database) => again(database, |database| Ok(database.is_forgotten(name)?)),
        }
    }

    /// Begins a transaction, unless a mark has another state than expected: then returns that mark.
    pub(super) fn begin_after(&mut self, expected: &[Mark]) -> Result<Option<Mark>, Error> {
        Ok(match self {
            Self::File { database, .. } => database.begin_after(expected)?,
            Self::Server(database) => database.begin_after(expected)?,
        })
    }

    /// Commits rows with their audit records and marks. If a source has moved, everything stays as before.
    pub(crate) fn commit(
        &mut self,
        commits: &[Commit<Rows>],
        records: &[(SourceName, TrailRecords)],
        marks: &[Mark],
    ) -> Result<Receipt, CommitError<Error>> {
        match self {
            Self::File { database, outputs, .. } => {
                let before = outputs.state();
                let added = records
                    .iter()
                    .try_for_each(|(_, records)| outputs.add_records(records, database));
                added.map_err(|error| CommitError::Failed(error.into()))?;
                let committed = outputs.commit(database, commits, marks);
                if let Err(CommitError::Moved { .. }) = &committed {
                    outputs.restore(before);
                }
                committed.map_err(|error| of(error, Into::into))
            }
            Self::Server(database) => {
                database.commit(commits, marks).map_err(|error| of(error, Into::into))
            }
        }
    }

    /// Connects to a server again, until it answers, or the sink is stopped, or `limit` is over.
    pub(super) fn reach_again(
        &mut self,
        lost: PostgresError,
        stop: &AtomicBool,
        limit: Option<Duration>,
    ) -> Result<(), Error> {
        let Self::Server(database) = self else { return Ok(()) };
        let mut lost = Some(lost);
        until_reached(stop, limit, || match lost.take() {
            Some(lost) => Err(lost.into()),
            None => Ok(database.reconnect()?),
        })
    }

    /// What messages call the database.
    pub(crate) fn name(&self) -> String {
        self.store().name()
    }

    pub(super) fn totals(&mut self) -> Result<Totals, Error> {
        match self {
            Self::File { database, .. } => Ok(database.totals()?),
            Self::Server(database) => again(database, |database| Ok(database.totals()?)),
        }
    }

    fn store(&self) -> &dyn Store {
        match self {
            Self::File { database, .. } => &**database,
            Self::Server(database) => &**database,
        }
    }

    /// Closes the database, and completes the trail.
    pub(crate) fn close(self) -> Result<(), Error> {
        let Self::File { mut database, outputs, whole } = self else { return Ok(()) };
        outputs.finish(&mut database)?;
        let still_whole = whole_trails(&database)?;
        for (_, path) in whole.iter().filter(|(trail, _)| !still_whole.contains_key(*trail)) {
            report(&format!(
                "the audit trail has no records of this run: it was run without --audit {path}"
            ));
        }
        database.close()?;
        Ok(())
    }
}

/// Reads from a server, again after a new connection if the first one is lost.
fn again<T>(
    database: &mut Postgres,
    read: impl Fn(&mut Postgres) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut is_lost = false;
    until_reached(&AtomicBool::new(false), Some(PATIENCE), || {
        if mem::replace(&mut is_lost, true) {
            database.reconnect()?;
        }
        read(database)
    })
}

/// Repeats what needs a server until it answers, or the sink is stopped, or `limit` is over.
pub(super) fn until_reached<T>(
    stop: &AtomicBool,
    limit: Option<Duration>,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let begun = Instant::now();
    let mut is_reported = false;
    loop {
        match attempt() {
            Err(Error::Server(error))
                if error.is_transient()
                    && !stop.load(Ordering::Relaxed)
                    && limit.is_none_or(|limit| begun.elapsed() < limit) =>
            {
                if !mem::replace(&mut is_reported, true) {
                    report(&format!("{error}; waiting for it"));
                }
                thread::sleep(AGAIN);
            }
            answer => return answer,
        }
    }
}

/// The marks of a database that is not open for writing.
pub(crate) fn marks(place: &DatabasePlace) -> Result<Vec<Mark>, Error> {
    match place {
        DatabasePlace::File(path) => outputs(&Database::open_read_only(path, WAIT)?),
        DatabasePlace::Server(address) => Ok(Postgres::open_read_only(address)?.marks()?),
    }
}

fn outputs(database: &Database) -> Result<Vec<Mark>, Error> {
    let outputs = database.outputs()?.into_iter();
    Ok(outputs.map(|output| Mark { name: output.name, state: output.state }).collect())
}

fn of<E>(error: CommitError<E>, convert: impl FnOnce(E) -> Error) -> CommitError<Error> {
    match error {
        CommitError::Moved { source_name, expected, stored } => {
            CommitError::Moved { source_name, expected, stored }
        }
        CommitError::Failed(error) => CommitError::Failed(convert(error)),
    }
}
