//! Notes below an answer: dim on a terminal, and wrapped.

use std::io::{self, Write};

use crate::{options::Color, wrap::wrap};

/// Writes a note about an answer.
pub(crate) fn note(out: &mut dyn Write, note: &str, width: usize) -> io::Result<()> {
    let note = wrap(note, width, 0);
    match Color::Auto.on_stdout() {
        true => writeln!(out, "\x1b[2m{note}\x1b[0m"),
        false => writeln!(out, "{note}"),
    }
}
