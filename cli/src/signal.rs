//! Ctrl-C and SIGTERM, for runs without an end.

use std::sync::{Arc, atomic::AtomicBool};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use super::error::Error;

/// Installs a handler: Ctrl-C and SIGTERM set the returned flag instead of ending the program at once.
///
/// # Errors
/// The handler cannot be installed.
pub fn stop_flag() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::<AtomicBool>::default();
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, stop.clone()).map_err(Error::Signal)?;
    }
    Ok(stop)
}
