//! [`App`]: the shared state of the request handlers.

use std::{sync::Arc, time::Duration};

use foldline_database::Store;
use foldline_domain::pricing::Prices;
use jiff::tz::TimeZone;
use tokio::sync::{Semaphore, watch};

use super::{
    live::{Begun, LiveSessions},
    receiver::Receiver,
};
use crate::{error::Error, place::DatabasePlace, program::Program};

/// The time that an answer waits for a writer of the database.
pub(super) const WAIT: Duration = Duration::from_secs(2);

/// The number of answers that may take long and are worked on at the same time. The others wait, and leave threads to
/// the rest of the server.
const TURNS: usize = 2;

/// The shared state of the request handlers.
pub(super) struct App {
    pub(super) program: Program,
    pub(super) prices: Arc<Prices>,
    database: DatabasePlace,
    pub(super) zone: TimeZone,
    pub(super) live: Arc<LiveSessions>,
    updates: watch::Receiver<u64>,
    pub(super) turns: Arc<Semaphore>,
    /// What receives the logs of other machines, if the server does.
    pub(super) receiver: Option<Arc<Receiver>>,
}

impl App {
    pub(super) fn new(
        program: &Program,
        prices: Prices,
        database: DatabasePlace,
        zone: TimeZone,
        updates: watch::Receiver<u64>,
    ) -> Self {
        let (program, prices) = (program.clone(), Arc::new(prices));
        let live = Arc::new(LiveSessions::new(&program, Begun::new(&prices, &zone)));
        let turns = Arc::new(Semaphore::new(TURNS));
        Self { program, prices, database, zone, live, updates, turns, receiver: None }
    }

    /// The same, with what receives the logs of other machines.
    pub(super) fn receiving(self, receiver: Option<Arc<Receiver>>) -> Self {
        Self { receiver, ..self }
    }

    /// A read-only connection that can estimate costs.
    pub(super) fn database(&self) -> Result<Box<dyn Store>, Error> {
        let database = self.database.open(WAIT)?;
        database.estimate_with(Arc::clone(&self.prices))?;
        Ok(database)
    }

    /// The number of updates of the database, which changes with each.
    pub(super) fn updates(&self) -> watch::Receiver<u64> {
        self.updates.clone()
    }
}
