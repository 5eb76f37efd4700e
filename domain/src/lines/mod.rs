//! [`Lines`]: writes the outputs of an emitter as lines.
//!
//! It is an emitter whose only outputs are write errors, so that it can be part of any fan-out.
//!
//! ```
//! use foldline::{position::{Located, Position, by_item}, transduce::{Batch, Emitter, emit_fn}};
//! use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType, lines::Lines};
//!
//! let kinds = emit_fn(|event: &DomainEvent| Batch::one(event.name()));
//! let mut lines = Lines::text(by_item(kinds), Vec::new());
//! let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "hi");
//! let event = Located::new(Position::default(), DomainEvent::entry(entry));
//! assert!(lines.emit(&event).is_empty());
//! lines.flush()?;
//! assert_eq!(lines.get_ref(), b"new_entry\n");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::{
    fmt,
    io::{self, Write},
};

use foldline::{
    position::Located,
    transduce::{Batch, Emitter, Resume},
};
use serde::Serialize;

use crate::conversation::DomainEvent;

/// Writes each output of an emitter as a line.
pub struct Lines<M, Out, W> {
    emitter: M,
    lines: LineWriter<W>,
    write: WriteOutput<Out, W>,
}

/// Writes an output; a large one directly, without buffering.
type WriteOutput<Out, W> = fn(Out, is_large: bool, &mut LineWriter<W>) -> io::Result<()>;

impl<M, Out, W: Write> Lines<M, Out, W> {
    fn new(emitter: M, writer: W, write: WriteOutput<Out, W>) -> Self {
        Self { emitter, lines: LineWriter::new(writer), write }
    }

    /// Writes each output as a line of JSON.
    pub fn json(emitter: M, writer: W) -> Self
    where
        Out: Serialize,
    {
        Self::new(emitter, writer, |out, is_large, lines| match is_large {
            true => lines.large_json(&out),
            false => lines.json(&out),
        })
    }

    /// Writes each output as pretty-printed JSON: for documents.
    pub fn pretty_json(emitter: M, writer: W) -> Self
    where
        Out: Serialize,
    {
        Self::new(emitter, writer, |out, _, lines| lines.pretty_json(&out))
    }

    /// Writes each output as a line of text, unchanged: the emitter has to neutralise control characters of a log.
    pub fn text(emitter: M, writer: W) -> Self
    where
        Out: AsRef<str>,
    {
        Self::new(emitter, writer, |out, _, lines| lines.text(out))
    }

    /// Writes buffered data.
    ///
    /// # Errors
    /// The writer failed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.lines.flush()
    }

    /// The writer.
    pub fn get_ref(&self) -> &W {
        self.lines.get_ref()
    }

    /// The emitter.
    pub fn emitter_mut(&mut self) -> &mut M {
        &mut self.emitter
    }

    fn write(&mut self, outputs: Batch<Out>, is_large: bool) -> Batch<io::Error> {
        let mut failures = Batch::EMPTY;
        outputs.drain_with(|out| {
            failures.extend((self.write)(out, is_large, &mut self.lines).err());
        });
        failures
    }
}

impl<M, T: AsRef<str>, W: Write> Lines<M, io::Result<T>, W> {
    /// Writes each successful output as a line of text; an error becomes a write error.
    pub fn results(emitter: M, writer: W) -> Self {
        Self::new(emitter, writer, |out, _, lines| lines.text(out?))
    }
}

impl<M, Out, W> Emitter<Located<DomainEvent>, io::Error> for Lines<M, Out, W>
where
    M: Emitter<Located<DomainEvent>, Out>,
    W: Write,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        let outputs = self.emitter.emit(event);
        self.write(outputs, is_large(&event.item))
    }

    fn finish(&mut self) -> Batch<io::Error> {
        let outputs = self.emitter.finish();
        let mut failures = self.write(outputs, false);
        failures.extend(self.lines.flush().err());
        failures
    }
}

impl<M: Resume, Out, W> Resume for Lines<M, Out, W> {
    type State = M::State;

    fn state(&self) -> M::State {
        self.emitter.state()
    }

    fn resume(&mut self, state: M::State) {
        self.emitter.resume(state);
    }
}

impl<M: fmt::Debug, Out, W> fmt::Debug for Lines<M, Out, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("emitter", &self.emitter).finish_non_exhaustive()
    }
}

/// Whether an event is so large that its output is written directly instead of being buffered.
fn is_large(event: &DomainEvent) -> bool {
    match event {
        DomainEvent::NewEntry { entry }
        | DomainEvent::OpenEntry { entry, .. }
        | DomainEvent::NewToolCall { entry, .. }
        | DomainEvent::UpdateToolCall { entry, .. } => entry.size() > 1 << 20,
        _ => false,
    }
}

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
