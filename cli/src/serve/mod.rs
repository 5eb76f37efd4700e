//! `foldline serve`: sessions in the browser, while they grow.
//!
//! The list of sessions is read from the database, which a thread keeps up to date. A session that somebody
//! looks at is followed by a thread of its own, see [`live`]; the asynchronous part only moves bytes. Nothing
//! is kept here: after a restart everything comes from the database and the logs.
//!
//! What is safe, and how, is described in [`guard`].

mod api;
mod app;
mod args;
mod events;
mod explain;
mod guard;
mod list;
mod live;
mod page;
mod request;
mod routes;
mod sessions;
mod status;
mod token;
mod update;

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

pub(super) use self::args::ServeArgs;
use self::{app::App, guard::Guard, update::Updates};
use crate::{
    distinct::DistinctFiles, error::Error, exit, homes::or_homes, program::Program,
    signal::stop_flag,
};

pub(super) fn run(program: &Program, args: &ServeArgs) -> Result<u8, Error> {
    let paths = or_homes(&args.paths, &program.registry)?;
    let database = args.database.path()?;
    let mut files = DistinctFiles::default();
    files.database(&database)?;
    for path in paths.iter().filter(|path| !path.is_dir()) {
        files.input("the log", path)?;
    }
    let stop = stop_flag()?;
    // Before the logs are read, which may take a while.
    let listener = TcpListener::bind(args.listen);
    let listener = listener.map_err(|error| listening(args.listen, &error))?;
    let updates = Updates::start(program, paths, &database)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| listening(args.listen, &error))?;
    runtime.block_on(async {
        let listener = listener
            .set_nonblocking(true)
            .and_then(|()| tokio::net::TcpListener::from_std(listener))
            .map_err(|error| listening(args.listen, &error))?;
        let address = listener.local_addr().map_err(|error| listening(args.listen, &error))?;
        let guard = Guard::new(address, args)?;
        // Whether this is read has no effect.
        let _ = writeln!(io::stderr(), "foldline: listening on {}", guard.link());
        let app = Arc::new(App::new(program, database, updates.subscribe()));
        let routes = routes::routes(app, guard);
        let served = axum::serve(listener, routes);
        tokio::select! {
            served = async { served.await } => served.map_err(|error| listening(address, &error)),
            () = stopped(&stop) => Ok(()),
        }
    })?;
    // A thread may still read a log: it writes nothing, and ends with the process.
    runtime.shutdown_background();
    updates.stop();
    Ok(exit::FINE)
}

/// Returns when the program is told to end.
async fn stopped(stop: &std::sync::atomic::AtomicBool) {
    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

fn listening(address: SocketAddr, error: &io::Error) -> Error {
    Error::WrongUse(format!(
        "cannot listen on {address}: {error}; choose another address with --listen"
    ))
}
