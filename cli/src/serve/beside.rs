//! [`Beside`]: a server beside an agent, for `foldline run`.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    thread::{self, JoinHandle},
};

use foldline::pricing::Prices;
use tokio::sync::{oneshot, watch};

use super::{
    app::App,
    args::Access,
    live::RunningLog,
    server::{Ending, Server},
};
use crate::{error::Error, program::Program};

/// A server on a thread of its own, of a database that somebody else keeps up to date.
pub(crate) struct Beside {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<Result<(), Error>>,
}

impl Beside {
    /// Starts it, and says where it is. Returns what takes the events of the log at `path`, and what is to be called
    /// when the database was updated, and dropped when it will not be again.
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
        let app = App::new(program, Prices::builtin().clone(), database, is_updated);
        let running = RunningLog::new(Arc::clone(&app.live), path);
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            server.run(app, async { drop::<Result<(), _>>(stopped.await) }, Ending::WhenRead)
        });
        let updated = move || updates.send_modify(|updates: &mut u64| *updates += 1);
        Ok((Self { stop, thread }, running, updated))
    }

    /// The agent has ended, and its log is complete: ends when its readers have everything.
    pub(crate) fn end(self) -> Result<(), Error> {
        drop(self.stop);
        match self.thread.join() {
            Ok(served) => served,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}
