//! Errors of a PostgreSQL database, with human-readable messages.

use std::error::Error as _;

use postgres::error::SqlState;

use crate::StoreError;

/// An error of opening, reading or writing a PostgreSQL database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The address cannot be parsed.
    #[error(
        "{address} is not an address of a PostgreSQL database: {reason}; it has the form postgresql://USER@HOST/NAME"
    )]
    Address {
        /// The address, without the password.
        address: String,
        /// What is wrong.
        reason: String,
    },
    /// The certificates for encrypted connections cannot be read.
    #[error("cannot read the certificates of {path}: {reason}")]
    Certificates {
        /// Their file, or the store of the system.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The server cannot be reached, or closed the connection.
    #[error("cannot reach {name}: {reason}")]
    Unreachable {
        /// The database.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The server rejects the user, the password or the database.
    #[error("{name} rejects the connection: {reason}")]
    Rejected {
        /// The database.
        name: String,
        /// What the server says.
        reason: String,
    },
    /// The database has no tables of this program, or older ones.
    #[error(
        "{name} has no tables of this version of foldline (their version is {found}); foldline-fleet sink makes them"
    )]
    Older {
        /// The database.
        name: String,
        /// The version of its tables, 0 for none.
        found: i64,
    },
    /// A later version of this program made the tables.
    #[error(
        "{name} was made by a later version of foldline (its schema is {found}; this version supports schemas up to {known})"
    )]
    Newer {
        /// The database.
        name: String,
        /// The version of its tables.
        found: i64,
        /// The latest supported version.
        known: i64,
    },
    /// Another program wrote the same rows meanwhile.
    #[error("another program wrote to {name} meanwhile: {reason}")]
    Conflict {
        /// The database.
        name: String,
        /// What the server says.
        reason: String,
    },
    /// Any other error.
    #[error("{name} failed: {reason}")]
    Other {
        /// The database.
        name: String,
        /// What the server says.
        reason: String,
    },
}

impl PostgresError {
    /// Whether the same may succeed later, after a new connection.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Conflict { .. })
    }
}

impl From<PostgresError> for StoreError {
    fn from(error: PostgresError) -> Self {
        Self::engine(error)
    }
}

/// An error before the database is named.
#[derive(Debug)]
pub(super) enum PostgresFailure {
    Server(postgres::Error),
    Row(StoreError),
}

impl From<postgres::Error> for PostgresFailure {
    fn from(error: postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl From<StoreError> for PostgresFailure {
    fn from(error: StoreError) -> Self {
        Self::Row(error)
    }
}

impl PostgresFailure {
    /// The error of the database with this name.
    pub(super) fn of(self, name: &str) -> PostgresError {
        let name = name.to_owned();
        match self {
            Self::Server(error) => of_server(name, &error),
            Self::Row(error) => PostgresError::Other { name, reason: error.to_string() },
        }
    }
}

fn of_server(name: String, error: &postgres::Error) -> PostgresError {
    let Some(stated) = error.as_db_error() else {
        let cause = error.source().map(|cause| format!(": {cause}"));
        let reason = format!("{error}{}", cause.unwrap_or_default());
        let is_io = error.is_closed()
            || error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>);
        return match is_io {
            true => PostgresError::Unreachable { name, reason },
            false => PostgresError::Other { name, reason },
        };
    };
    let reason = stated.message().to_owned();
    let code = stated.code();
    let is_of = |class: &str| code.code().starts_with(class);
    if is_of("28") || is_of("3D") || *code == SqlState::INSUFFICIENT_PRIVILEGE {
        PostgresError::Rejected { name, reason }
    } else if is_of("08") || is_of("57P") || is_of("53") {
        PostgresError::Unreachable { name, reason }
    } else if is_of("40")
        || *code == SqlState::UNIQUE_VIOLATION
        || *code == SqlState::LOCK_NOT_AVAILABLE
    {
        PostgresError::Conflict { name, reason }
    } else {
        PostgresError::Other { name, reason }
    }
}
