//! [`Server`]: answers requests at an address until it is stopped.

use std::{
    future::Future,
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use tokio::{runtime::Builder, sync::oneshot, time::sleep};

use super::{
    app::App,
    args::Access,
    connections::{self, Limits},
    guard::Guard,
    routes,
};
use crate::error::Error;

/// The largest number of threads for work that waits for the disk. Each keeps memory of its own for a while, and a
/// crowd of clients must not have one each.
const THREADS: usize = 3;

/// The time that readers have for the last events.
const GRACE: Duration = Duration::from_secs(2);

/// A server that is bound to its address, and does not answer yet.
pub(super) struct Server {
    listener: TcpListener,
    address: SocketAddr,
    guard: Guard,
}

impl Server {
    pub(super) fn bind(address: SocketAddr, access: &Access) -> Result<Self, Error> {
        let bound = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        let (listener, address) = bound.map_err(|error| cannot_listen(address, &error))?;
        Ok(Self { listener, address, guard: Guard::new(address, access)? })
    }

    /// Prints the address on standard error.
    pub(super) fn announce(&self) {
        // Write errors are ignored.
        let _ = writeln!(io::stderr(), "foldline: listening on {}", self.guard.link());
    }

    /// Answers requests until `stop` completes, and then ends as `ending` states.
    pub(super) fn run(
        self,
        app: App,
        stop: impl Future<Output = ()>,
        ending: Ending,
    ) -> Result<(), Error> {
        let Self { listener, address, guard } = self;
        let fail = |error| cannot_listen(address, &error);
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime.enable_all().max_blocking_threads(THREADS).build().map_err(fail)?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let app = Arc::new(app);
            let (close, closed) = oneshot::channel::<()>();
            let routes = routes::routes(Arc::clone(&app), guard);
            let closed = async { drop(closed.await) };
            let served = connections::serve(listener, routes, Limits::USUAL, closed);
            let ended = async {
                stop.await;
                if ending == Ending::WhenRead {
                    app.live.complete();
                    drop(close);
                    sleep(GRACE).await;
                }
            };
            tokio::select! {
                () = served => {}
                () = ended => {}
            }
            Ok(())
        });
        // A thread may still read a log; it writes nothing, and ends with the process.
        runtime.shutdown_background();
        served.map_err(fail)
    }
}

/// The way in which a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Immediately: readers request missing events from the next server.
    AtOnce,
    /// After its readers have received everything, since there is no next server.
    WhenRead,
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> Error {
    Error::WrongUse(format!("cannot listen on {address}: {error}; choose another address"))
}
