//! `foldline-fleet schema`: prints the JSON Schema of the messages for other programs.

use std::io::{self, Write};

use crate::{error::Error, exit, messages::SCHEMA};

pub(crate) fn run() -> Result<u8, Error> {
    let mut out = io::stdout().lock();
    out.write_all(SCHEMA.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)?;
    Ok(exit::SUCCESS)
}
