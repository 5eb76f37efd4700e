//! [`LineWriter`]: a buffer in front of a writer, which lines are put into.

use std::{
    fmt::Display,
    io::{self, BufWriter, Write},
};

use serde::Serialize;

use crate::json;

/// How many bytes are written at once.
const BLOCK: usize = 64 << 10;

/// Gathers lines, and writes them in blocks of about 64 KiB.
///
/// What was gathered is written by [`flush`](Self::flush) at the latest; a writer that is dropped writes
/// nothing. After a failed write nothing is written twice.
#[derive(Debug)]
pub struct LineWriter<W> {
    writer: W,
    pending: Vec<u8>,
}

impl<W: Write> LineWriter<W> {
    /// Lines for `writer`.
    pub fn new(writer: W) -> Self {
        Self { writer, pending: Vec::with_capacity(2 * BLOCK) }
    }

    /// Where the lines are written to.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Where the lines are written to.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Writes a value as a line of JSON.
    ///
    /// # Errors
    /// The value refuses to be serialised, or it cannot be written.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        json::append(&mut self.pending, value)?;
        self.end_line()
    }

    /// Writes a value as a line of JSON while it is serialised, so that a large one is not in memory
    /// once more.
    ///
    /// # Errors
    /// As for [`json`](Self::json).
    pub fn large_json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.write_out()?;
        let mut writer = BufWriter::with_capacity(BLOCK, &mut self.writer);
        serde_json::to_writer(&mut writer, value)?;
        writer.write_all(b"\n")?;
        writer.flush()
    }

    /// Writes a value as JSON for people, with its line end.
    ///
    /// # Errors
    /// As for [`json`](Self::json).
    pub fn pretty_json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.write_out()?;
        let mut writer = BufWriter::with_capacity(BLOCK, &mut self.writer);
        serde_json::to_writer_pretty(&mut writer, value)?;
        writer.write_all(b"\n")?;
        writer.flush()
    }

    /// Writes text as a line.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn text(&mut self, line: impl Display) -> io::Result<()> {
        write!(self.pending, "{line}")?;
        self.end_line()
    }

    /// Writes everything that was gathered.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
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
        // One long line is no reason to hold its memory for all that follow.
        self.pending.shrink_to(2 * BLOCK);
        written
    }
}
