//! [`say`]: what the program says beside its output.

use std::io::{self, Write};

use foldline::emitters::terminal::neutralise;

/// Says something on standard error. Whether it is read has no effect.
pub(crate) fn say(message: &str) {
    let _ = writeln!(io::stderr(), "foldline: {}", neutralise(message));
}
