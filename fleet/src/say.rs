//! [`say`]: messages on standard error.

use std::io::{self, Write};

use foldline_render::terminal::neutralise_line;

/// Prints a line on standard error. Write errors are ignored.
pub(crate) fn say(message: &str) {
    let _ = writeln!(io::stderr(), "foldline-fleet: {}", neutralise_line(message));
}
