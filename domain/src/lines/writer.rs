//! [`LineWriter`]: a buffered writer of lines.

use std::io::{self, Write};

use serde::Serialize;

/// The number of bytes written at once.
const BLOCK: usize = 64 << 10;

/// Buffers lines, and writes them in blocks of about 64 KiB.
///
/// [`flush`](Self::flush) writes the rest; dropping the writer does not. After a failed write, nothing is
/// written twice.
#[derive(Debug)]
pub(super) struct LineWriter<W> {
    writer: W,
    pending: Vec<u8>,
}

impl<W: Write> LineWriter<W> {
    /// Buffers lines for `writer`.
    pub(super) fn new(writer: W) -> Self {
        Self { writer, pending: Vec::with_capacity(2 * BLOCK) }
    }

    /// The writer.
    pub(super) fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Writes a value as a line of JSON.
    ///
    /// # Errors
    /// The value's `Serialize` or the writer failed.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        foldline_json::append(&mut self.pending, value)?;
        self.end_line()
    }

    /// Serialises a value as a line of JSON directly to the writer, so that a large one is not buffered in memory.
    ///
    /// # Errors
    /// As for [`json`](Self::json).
    pub(super) fn large_json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.write_out()?;
        foldline_json::write(&mut self.writer, value)?;
        self.writer.write_all(b"\n")?;
        self.writer.flush()
    }

    /// Writes a value as pretty-printed JSON, with a line end.
    ///
    /// # Errors
    /// As for [`json`](Self::json).
    pub(super) fn pretty_json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.write_out()?;
        foldline_json::write_pretty(&mut self.writer, value)?;
        self.writer.write_all(b"\n")?;
        self.writer.flush()
    }

    /// Writes text as a line.
    ///
    /// # Errors
    /// The writer failed.
    pub(super) fn text(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        self.pending.extend_from_slice(line.as_ref().as_bytes());
        self.end_line()
    }

    /// Writes buffered data.
    ///
    /// # Errors
    /// The writer failed.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.writer.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.pending.push(b'\n');
        if self.pending.len() < BLOCK { Ok(()) } else { self.write_out() }
    }

    fn write_out(&mut self) -> io::Result<()> {
        let written = self.writer.write_all(&self.pending);
        self.pending.clear();
        // Release the memory of a long line, so that it is not held for the rest of the log.
        self.pending.shrink_to(2 * BLOCK);
        written
    }
}
