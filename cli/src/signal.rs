//! Ctrl-C and SIGTERM, for what goes on until it is stopped.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::error::Error;

/// From now on Ctrl-C and SIGTERM set the flag that is returned, and no longer end the program at once.
pub(super) fn stop_flag() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::<AtomicBool>::default();
    let flag = stop.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .map_err(|error| Error::Output(io::Error::other(error)))?;
    Ok(stop)
}
