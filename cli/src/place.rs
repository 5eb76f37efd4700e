//! [`DatabasePlace`]: where a database is.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use foldline_database::{Store, sqlite::Database};

#[cfg(feature = "postgres")]
use foldline_database::{StoreError, postgres::Postgres};

use crate::error::Error;

/// Where a database is.
#[derive(Clone, Debug)]
pub enum DatabasePlace {
    /// A file of SQLite.
    File(PathBuf),
    /// A database of a PostgreSQL server: its address.
    Server(String),
}

impl DatabasePlace {
    /// The place that a user named: an address, or else a file.
    pub fn of(named: OsString) -> Self {
        let is_address =
            |text: &&str| ["postgresql://", "postgres://"].iter().any(|it| text.starts_with(it));
        match named.to_str().filter(is_address) {
            Some(address) => Self::Server(address.to_owned()),
            None => Self::File(named.into()),
        }
    }

    /// Opens the database for reading, and waits this long for writers of a file.
    ///
    /// # Errors
    /// It cannot be opened or reached, or this program was built without PostgreSQL.
    pub fn open(&self, wait: Duration) -> Result<Box<dyn Store>, Error> {
        match self {
            Self::File(path) => Ok(Box::new(Database::open_read_only(path, wait)?)),
            #[cfg(feature = "postgres")]
            Self::Server(address) => {
                let database = Postgres::open_read_only(address).map_err(StoreError::from)?;
                Ok(Box::new(database))
            }
            #[cfg(not(feature = "postgres"))]
            Self::Server(_) => Err(Self::unsupported()),
        }
    }

    /// The error for a server.
    #[cfg(not(feature = "postgres"))]
    pub(crate) fn unsupported() -> Error {
        Error::WrongUse(
            "this program was built without PostgreSQL: build it with --features postgres"
                .to_owned(),
        )
    }
}
