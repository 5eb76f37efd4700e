//! [`App`]: what the answers to requests are made from.

use std::{path::PathBuf, time::Duration};

use foldline::emitters::sqlite::Database;
use jiff::tz::TimeZone;
use tokio::sync::watch;

use super::live::LiveSessions;
use crate::{error::Error, program::Program};

/// How long an answer waits for a writer of the database.
const WAIT: Duration = Duration::from_secs(2);

/// What the answers to requests are made from.
pub(super) struct App {
    pub(super) program: Program,
    database: PathBuf,
    pub(super) zone: TimeZone,
    pub(super) live: LiveSessions,
    updates: watch::Receiver<u64>,
}

impl App {
    pub(super) fn new(program: &Program, database: PathBuf, updates: watch::Receiver<u64>) -> Self {
        let (program, live) = (program.clone(), LiveSessions::default());
        Self { program, database, zone: TimeZone::system(), live, updates }
    }

    /// A connection that only reads.
    pub(super) fn database(&self) -> Result<Database, Error> {
        Ok(Database::open_read_only(&self.database, WAIT)?)
    }

    /// The number of updates of the database, which changes with each.
    pub(super) fn updates(&self) -> watch::Receiver<u64> {
        self.updates.clone()
    }
}
