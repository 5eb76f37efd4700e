//! Notes below an answer: dim on a terminal, and wrapped.

use std::io::{self, Write};

use crate::wrap::wrap;

/// Writes a note about an answer, dim if it is coloured.
pub(crate) fn note(
    out: &mut dyn Write,
    note: &str,
    (width, is_coloured): (usize, bool),
) -> io::Result<()> {
    let note = wrap(note, width, 0);
    match is_coloured {
        true => writeln!(out, "\x1b[2m{note}\x1b[0m"),
        false => writeln!(out, "{note}"),
    }
}
