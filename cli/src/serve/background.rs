//! [`BackgroundServer`]: a server that runs next to an agent, for `foldline run`.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    thread::{self, JoinHandle},
};

use foldline_domain::pricing::Prices;
use jiff::tz::TimeZone;
use tokio::sync::{oneshot, watch};

use super::{
    app::App,
    args::Access,
    live::RunningLog,
    server::{Ending, Server},
};
use crate::{error::Error, place::DatabasePlace, program::Program};

/// A server on a separate thread, for a database that the caller updates.
pub(crate) struct BackgroundServer {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<Result<(), Error>>,
}

impl BackgroundServer {
    /// Starts the server, and prints its address. Returns the consumer of the events of the log at `path`, and
    /// a function to call after each update of the database, and to drop after the last one.
    pub(crate) fn start(
        program: &Program,
        path: PathBuf,
        database: PathBuf,
        address: SocketAddr,
        access: &Access,
    ) -> Result<(Self, RunningLog, impl FnMut() + Send + use<>), Error> {
        let server = Server::bind(address, access)?;
        server.announce();
        let (updates, is_updated) = watch::channel(0);
        let (prices, database) = (Prices::builtin().clone(), DatabasePlace::File(database));
        let app = App::new(program, prices, database, TimeZone::system(), is_updated);
        let running = RunningLog::new(Arc::clone(&app.live), path);
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            server.run(app, async { drop::<Result<(), _>>(stopped.await) }, Ending::WhenRead)
        });
        let updated = move || updates.send_modify(|updates: &mut u64| *updates += 1);
        Ok((Self { stop, thread }, running, updated))
    }

    /// Ends the server when its readers have received everything. The agent has ended, and its log is complete.
    pub(crate) fn end(self) -> Result<(), Error> {
        drop(self.stop);
        match self.thread.join() {
            Ok(served) => served,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}
