//! Ctrl-C and SIGTERM, for runs without an end.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::error::Error;

/// Installs a handler: Ctrl-C and SIGTERM set the returned flag instead of ending the program at once.
pub(super) fn stop_flag() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::<AtomicBool>::default();
    let flag = stop.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .map_err(|error| Error::Output(io::Error::other(error)))?;
    Ok(stop)
}
