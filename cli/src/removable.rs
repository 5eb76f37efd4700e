//! [`Removable`]: a database from which something is removed.

use std::{ops::Deref, time::Duration};

use foldline_database::{
    Forgotten, Prune, Pruned, Store,
    sqlite::{Database, SqliteError},
};

#[cfg(feature = "postgres")]
use foldline_database::{StoreError, postgres::Postgres};

use crate::{
    answer::is_damaged, distinct::DistinctFiles, error::Error, outputs::OutputPaths,
    place::DatabasePlace,
};

/// A database from which something is removed, or of which a dry run says what would be.
pub(crate) struct Removable {
    engine: Engine,
    is_dry: bool,
    /// Whether a dry run found damage in a file, which was reported.
    pub(crate) is_damaged: bool,
}

enum Engine {
    File(Box<Database>),
    #[cfg(feature = "postgres")]
    Server(Box<Postgres>),
}

impl Removable {
    /// Opens an existing database, and waits this long for other programs that write to it.
    pub(crate) fn open(place: &DatabasePlace, wait: Duration, is_dry: bool) -> Result<Self, Error> {
        let (engine, is_damaged) = match place {
            DatabasePlace::File(path) => {
                DistinctFiles::of_database(path)?;
                // Opening for writing would create a missing database.
                if !path.exists() {
                    return Err(SqliteError::Missing(path.clone()).into());
                }
                let database = match is_dry {
                    true => Database::open_read_only(path, wait)?,
                    false => Database::open_sound(path, wait)?,
                };
                let is_damaged = is_dry && is_damaged(&database)?;
                (Engine::File(Box::new(database)), is_damaged)
            }
            #[cfg(feature = "postgres")]
            DatabasePlace::Server(address) => {
                let database = match is_dry {
                    true => Postgres::open_read_only(address),
                    false => Postgres::open_existing(address, wait),
                };
                (Engine::Server(Box::new(database.map_err(StoreError::from)?)), false)
            }
            #[cfg(not(feature = "postgres"))]
            DatabasePlace::Server(_) => return Err(DatabasePlace::unsupported()),
        };
        Ok(Self { engine, is_dry, is_damaged })
    }

    /// Removes the entries of old sessions.
    pub(crate) fn prune(&mut self, which: Prune) -> Result<Pruned, Error> {
        Ok(match &mut self.engine {
            Engine::File(database) => database.prune(which, self.is_dry)?,
            #[cfg(feature = "postgres")]
            Engine::Server(database) => {
                database.prune(which, self.is_dry).map_err(StoreError::from)?
            }
        })
    }

    /// Removes sessions for good.
    pub(crate) fn forget(&mut self, sessions: &[i64]) -> Result<Forgotten, Error> {
        Ok(match &mut self.engine {
            Engine::File(database) => database.forget_sessions(sessions, self.is_dry)?,
            #[cfg(feature = "postgres")]
            Engine::Server(database) => {
                database.forget_sessions(sessions, self.is_dry).map_err(StoreError::from)?
            }
        })
    }

    /// The outputs that belong to a file.
    pub(crate) fn outputs(&self) -> Result<OutputPaths, Error> {
        match &self.engine {
            Engine::File(database) => OutputPaths::of(database),
            #[cfg(feature = "postgres")]
            Engine::Server(_) => Ok(OutputPaths::default()),
        }
    }

    /// Completes the removal; rewrites the database if it is to be compacted.
    pub(crate) fn finish(self, compacts: bool) -> Result<(), Error> {
        match self.engine {
            Engine::File(mut database) => {
                database.confirm()?;
                if compacts {
                    database.compact()?;
                }
                if !self.is_dry {
                    database.close()?;
                }
            }
            #[cfg(feature = "postgres")]
            Engine::Server(mut database) if compacts => {
                database.compact().map_err(StoreError::from)?;
            }
            #[cfg(feature = "postgres")]
            Engine::Server(_) => {}
        }
        Ok(())
    }
}

impl Deref for Removable {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        match &self.engine {
            Engine::File(database) => &**database,
            #[cfg(feature = "postgres")]
            Engine::Server(database) => &**database,
        }
    }
}
