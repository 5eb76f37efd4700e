//! [`say`]: what the program says beside its output.

use std::io::{self, Write};

use foldline::emitters::terminal::neutralise_line;

/// Says something in a line on standard error. Whether it is read has no effect.
pub(crate) fn say(message: &str) {
    let _ = writeln!(io::stderr(), "foldline-fleet: {}", neutralise_line(message));
}
