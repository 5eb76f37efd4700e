//! [`OutputPaths`]: the files that belong to a database, and the collectors that get what is added to it.

use foldline_database::sqlite::Database;

use super::trail::{PREFIX, state};
use crate::error::Error;

/// The paths of the files that belong to a database, as they were last written.
#[derive(Debug, Default)]
pub(crate) struct OutputPaths {
    /// The audit trails.
    pub(crate) trails: Vec<String>,
    /// The files of sinks, and the addresses of collectors.
    pub(crate) others: Vec<String>,
}

impl OutputPaths {
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn of(database: &Database) -> Result<Self, Error> {
        let mut paths = Self::default();
        for known in database.outputs()? {
            match (state(&known), known.name.rsplit_once(' ')) {
                (Ok(state), _) if known.name.starts_with(PREFIX) => paths.trails.push(state.path),
                (Ok(state), _) => paths.others.push(state.path),
                (Err(_), Some((_, address))) if address.contains("://") => {
                    paths.others.push(address.to_owned());
                }
                // The states of other programs.
                (Err(_), _) => {}
            }
        }
        Ok(paths)
    }
}
