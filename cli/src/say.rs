//! [`say`]: messages on standard error.

use std::io::{self, Write};

use foldline_render::terminal::neutralise;

/// Writes a message to standard error. Write errors are ignored.
pub(crate) fn say(message: &str) {
    let _ = writeln!(io::stderr(), "foldline: {}", neutralise(message));
}
