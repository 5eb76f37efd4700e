//! [`OutputPaths`]: the files that belong to a database.

use foldline_database::sqlite::Database;

use super::trail::{PREFIX, state};
use crate::error::Error;

/// The paths of the files that belong to a database, as they were last written.
#[derive(Debug, Default)]
pub(crate) struct OutputPaths {
    /// The audit trails.
    pub(crate) trails: Vec<String>,
    /// The files of sinks.
    pub(crate) others: Vec<String>,
}

impl OutputPaths {
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn of(database: &Database) -> Result<Self, Error> {
        let mut paths = Self::default();
        for known in database.outputs()? {
            // Other states are not those of files.
            let Ok(state) = state(&known) else { continue };
            match known.name.starts_with(PREFIX) {
                true => paths.trails.push(state.path),
                false => paths.others.push(state.path),
            }
        }
        Ok(paths)
    }
}
