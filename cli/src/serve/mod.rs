//! `foldline serve`: sessions in the browser, while they grow.
//!
//! The list of sessions is read from the database, which a thread updates. A separate thread follows each open
//! session, see [`live`]; the asynchronous part only transfers bytes, and serializes patches. The server stores
//! nothing but what machines send ([`receive`]): after a restart it reads everything from the database and the logs.
//!
//! The security rules are described in [`guard`].

mod address;
mod api;
mod app;
mod args;
mod background;
mod chart;
mod connections;
mod counts;
mod deadline;
mod events;
mod explain;
mod failed;
mod figures;
mod filter;
mod glance;
mod guard;
mod list;
mod live;
mod mirror;
mod page;
mod past;
mod picture;
#[cfg(feature = "mcp")]
mod questions;
mod receive;
mod receiver;
mod rendered;
mod request;
mod routes;
mod row_detail;
mod schema;
mod server;
mod session;
mod sessions;
mod sse;
mod token;
mod tree;
mod update;
mod usage;

use crate::answer::status;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::sleep;

pub(super) use self::{
    address::parse_address,
    args::{Access, ServeArgs},
    background::BackgroundServer,
};
use self::{
    app::{App, WAIT},
    server::{Ending, Server},
    update::Updates,
};
pub(crate) use self::{
    live::RunningLog,
    schema::{SCHEMA, TYPES},
};
use crate::{
    distinct::DistinctFiles, error::Error, exit, place::DatabasePlace, program::Program,
    signal::stop_flag,
};

pub(super) fn run(program: &Program, args: &ServeArgs) -> Result<u8, Error> {
    let database = args.database.place()?;
    let mut files = DistinctFiles::default();
    let paths = match &database {
        DatabasePlace::File(path) => {
            files.database(path)?;
            args.paths.clone()
        }
        DatabasePlace::Server(_) if args.paths.is_empty() => {
            drop(database.open(WAIT)?);
            Vec::new()
        }
        DatabasePlace::Server(_) => {
            return Err(Error::WrongUse(
                "logs are read into database files only: a PostgreSQL database is filled by foldline-fleet sink"
                    .to_owned(),
            ));
        }
    };
    for path in &args.paths {
        path.metadata().map_err(|error| Error::Input { path: path.clone(), error })?;
    }
    for path in paths.iter().filter(|path| !path.is_dir()) {
        files.input("the log", path)?;
    }
    for (option, path) in [("--token-file", &args.access.token_file), ("--receive", &args.receive)]
    {
        path.iter().try_for_each(|path| files.input(option, path))?;
    }
    let receiver = args.receiver(&database)?.map(Arc::new);
    let paths = match &receiver {
        Some(receiver) => [paths, vec![receiver.folder().to_owned()]].concat(),
        None => paths,
    };
    let prices = args.prices.load()?.into_owned();
    let stop = stop_flag()?;
    // Printed before the logs are read, which may take a while.
    let server = Server::bind(args.listen, &args.access)?;
    let updates = Updates::start(program, paths, &database)?;
    server.announce();
    let app = App::new(program, prices, database, args.zone(), updates.subscribe());
    let app = app.receiving(receiver);
    server.run(app, stopped(&stop), Ending::AtOnce)?;
    updates.stop();
    Ok(exit::SUCCESS)
}

/// Returns when the program receives a signal to end.
async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        sleep(Duration::from_millis(100)).await;
    }
}
