//! The imperative shell: bytes in, outputs of the emitter out. Lines, records and events are internal.
//!
//! It does no I/O: the caller reads a file, a pipe or a socket, and pushes the bytes. Chunks may end
//! anywhere.

mod background;
mod encoding;
mod framer;
mod joiner;
mod line;
mod overlong;
mod snapshot;
mod stretches;

use std::sync::Arc;

use tracing::debug;

pub use self::{
    background::Background,
    encoding::Encoding,
    framer::{DEFAULT_MAX_LINE, LineFramer},
    line::{FramerState, Line},
    snapshot::{Counts, Finished, Snapshot, SnapshotError},
    stretches::{LastStretch, StretchLimits, Stretches},
};
use crate::{
    conversation::{Digest, DomainEvent, Located, Position},
    transduce::{Emitter, Gather, Reducer, Resume, Transducer},
    wire::{Irregular, Record, TooLong},
};

/// Drives a [`Transducer`] with bytes.
///
/// ```
/// use foldline::{
///     conversation::{DomainEvent, Located, locating},
///     executors::{Reducing, droid::Droid},
///     processor::Processor,
///     transduce::{Batch, Transducer, emit_fn},
/// };
///
/// let executor = Reducing::new(Droid);
/// let names = emit_fn(|event: &Located<DomainEvent>| {
///     Batch::one(format!("{} {}", event.position.line, event.item.name()))
/// });
/// let mut processor = Processor::new(Transducer::new(locating(executor), names));
///
/// let mut out = Vec::new();
/// processor.push(b"{\"type\":\"message\",\"role\":\"us", |name| out.push(name));
/// processor.push(b"er\",\"text\":\"hi\"}\n", |name| out.push(name));
/// processor.finish(|name| out.push(name));
/// assert_eq!(out, ["1 session", "1 new_entry"]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Processor<R, S, M> {
    framer: LineFramer,
    transducer: Transducer<R, S, M>,
    counts: Counts,
    hashes_lines: bool,
    /// The position at which the reducer was done; nothing after it is read.
    done: Option<FramerState>,
}

/// What [`Processor::flush_last_line`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastLine {
    /// There was none: the input ends with a line end.
    None,
    /// It was a whole record, and was reduced.
    Taken,
    /// It may be the beginning of a longer one, and was left: the position is before it.
    Left,
}

impl<R, S, M> Processor<R, S, M> {
    /// Continues from a snapshot. The next bytes must be those at its position. An emitter without a memory
    /// is wrapped in [`Memoryless`](crate::transduce::Memoryless).
    pub fn resume(
        reducer: R,
        snapshot: Snapshot<S, M::State>,
        mut emitter: M,
        max_line: usize,
    ) -> Self
    where
        M: Resume,
    {
        let Snapshot { framer, counts, state, emitter: memory } = snapshot;
        emitter.resume(memory);
        let framer = LineFramer::restore(framer, max_line);
        let transducer = Transducer::restore(reducer, state, emitter);
        Self { framer, transducer, counts, hashes_lines: false, done: None }
    }

    /// The state to store, with the memory of the emitter: everything before its position was reduced, and
    /// nothing after it.
    ///
    /// # Panics
    /// If the reducer panicked in an earlier step, see [`Transducer`].
    pub fn snapshot(&self) -> Snapshot<&S, M::State>
    where
        M: Resume,
    {
        let (framer, counts) = (self.framer_state(), self.counts);
        let (state, emitter) = (self.transducer.state(), self.transducer.emitter().state());
        Snapshot { framer, counts, state, emitter }
    }

    /// Takes the emitter's collected output since the last cut.
    pub fn cut(&mut self) -> M::Stretch
    where
        M: Gather,
    {
        self.transducer.emitter_mut().cut()
    }

    /// Drives `transducer` from the beginning of a log.
    pub fn new(transducer: Transducer<R, S, M>) -> Self {
        Self::with_framer(transducer, LineFramer::default())
    }

    /// Drives `transducer` with the lines that `framer` gives out.
    pub fn with_framer(transducer: Transducer<R, S, M>, framer: LineFramer) -> Self {
        Self { framer, transducer, counts: Counts::default(), hashes_lines: false, done: None }
    }

    /// The same processor, which gives every event the SHA-256 value of the line that caused it
    /// ([`Located::line_sha256`]): of its bytes as they stand in the log, without the line end and
    /// without the byte order mark at the start of the log.
    #[must_use]
    pub fn with_line_hashes(mut self) -> Self {
        self.hashes_lines = true;
        self
    }

    /// Counts of what was read so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Where the next line begins: everything before it has been reduced.
    pub fn position(&self) -> Position {
        self.framer_state().position
    }

    /// Whether the reducer is done ([`Reducer::is_done`]): further bytes are ignored, and the position stays
    /// after the line with which it was done.
    pub fn is_done(&self) -> bool {
        self.done.is_some()
    }

    fn framer_state(&self) -> FramerState {
        self.done.unwrap_or_else(|| self.framer.state())
    }

    /// The transducer.
    pub fn transducer(&self) -> &Transducer<R, S, M> {
        &self.transducer
    }

    /// The emitter, for operations that do not depend on events, such as flushing it.
    pub fn emitter_mut(&mut self) -> &mut M {
        self.transducer.emitter_mut()
    }

    /// Adds bytes, and reduces every line that they complete.
    pub fn push<Out>(&mut self, bytes: &[u8], mut each: impl FnMut(Out))
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        let Self { framer, transducer, counts, hashes_lines, done } = self;
        if done.is_none() && transducer.is_done::<Located<Record<'_>>, Located<DomainEvent>>() {
            *done = Some(framer.state());
        }
        if done.is_some() {
            return;
        }
        let mut steps = Steps { transducer, counts, hashes_lines: *hashes_lines, done };
        framer.push(bytes, |line| steps.line(line, &mut each));
        debug!(
            bytes = bytes.len(),
            lines = counts.lines,
            records = counts.records,
            "bytes processed"
        );
    }

    /// The log continues in another file: reduces the last line, if it has no line end,
    /// and counts lines and bytes from the beginning again. The state stays.
    pub fn next_file<Out>(&mut self, each: impl FnMut(Out))
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        self.finish_lines(each);
        if self.done.is_none() {
            self.framer.begin_again();
        }
    }

    fn finish_lines<Out>(&mut self, mut each: impl FnMut(Out))
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        if self.done.is_some() {
            return;
        }
        let Self { framer, transducer, counts, hashes_lines, done } = self;
        let mut steps = Steps { transducer, counts, hashes_lines: *hashes_lines, done };
        framer.finish(|line| steps.line(line, &mut each));
        if let Some(done) = done
            && done.position == framer.position()
        {
            *done = framer.state();
        }
    }

    /// The input pauses, and may have been cut within a line: reduces the last line, which has no line
    /// end, if it consists of whole records only.
    pub fn flush_last_line<Out>(&mut self, each: impl FnMut(Out)) -> LastLine
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        let (mut records, mut is_whole) = (0, true);
        if self.done.is_some() {
            return LastLine::None;
        }
        self.framer.clone().finish(|frame| {
            read_records(frame, |record| {
                records += 1;
                is_whole &= matches!(record.item, Record::Object(_));
            });
        });
        match (records, is_whole) {
            (0, _) => LastLine::None,
            (_, false) => LastLine::Left,
            (_, true) => {
                self.finish_lines(each);
                LastLine::Taken
            }
        }
    }

    /// The end of input: reduces what remains, and releases what was held back.
    pub fn finish<Out>(mut self, mut each: impl FnMut(Out)) -> Finished<S, M>
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        self.finish_lines(&mut each);
        let framer = self.framer_state();
        let (state, emitter, rest) = self.transducer.finish();
        rest.drain_with(&mut each);
        let Counts { lines, blank, records } = self.counts;
        debug!(lines, blank, records, "log processed");
        Finished { framer, counts: self.counts, state, emitter }
    }
}

/// The parts that a line is reduced with.
struct Steps<'p, R, S, M> {
    transducer: &'p mut Transducer<R, S, M>,
    counts: &'p mut Counts,
    hashes_lines: bool,
    done: &'p mut Option<FramerState>,
}

impl<R, S, M> Steps<'_, R, S, M> {
    fn line<Out>(&mut self, line: Line<'_>, each: &mut impl FnMut(Out))
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        if self.done.is_some() {
            return;
        }
        let digest = (self.hashes_lines && !line.bytes.is_empty()).then(|| Arc::new(line.digest()));
        let before = self.counts.records;
        read_records(line, |record| {
            if let Record::Irregular(irregular) = &record.item {
                let Position { line, offset } = record.position;
                debug!(line, offset, %irregular, "not a record");
            }
            self.counts.records += 1;
            self.transducer.step_with(record.with_line_sha256(digest.clone()), &mut *each);
        });
        self.counts.lines += line.lines;
        self.counts.blank += u64::from(self.counts.records == before);
        if self.transducer.is_done::<Located<Record<'_>>, Located<DomainEvent>>() {
            *self.done = Some(line.next);
        }
    }
}

/// Reads the records of a line.
///
/// The line breaks of a record that spans several lines become spaces, so that a copied part of the
/// record is always one line.
pub fn read_records(line: Line<'_>, mut each: impl FnMut(Located<Record<'_>>)) {
    let Line { position, bytes, skipped, sha256, lines, next: _ } = line;
    let mut irregular = |record| each(Located::new(position, Record::Irregular(record)));
    let one_line: Vec<u8>;
    let bytes = if lines > 1 {
        // Between the lines of a record there is white space only: no string contains a line break.
        one_line = bytes.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }).collect();
        &one_line
    } else {
        bytes
    };
    let lossy;
    let text = match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            irregular(Irregular::InvalidUtf8 { at: error.valid_up_to() });
            if is_binary(bytes) {
                let head = String::from_utf8_lossy(&bytes[..bytes.len().min(framer::HEAD)]);
                let (bytes, sha256) = (bytes.len() as u64, Some(Digest::of(bytes)));
                irregular(Irregular::TooLong(TooLong { head: &head, bytes, sha256 }));
                return;
            }
            lossy = String::from_utf8_lossy(bytes);
            &lossy
        }
    };
    if skipped > 0 {
        let bytes = bytes.len() as u64 + skipped;
        irregular(Irregular::TooLong(TooLong { head: text, bytes, sha256 }));
        return;
    }
    Record::read(text, |at, record| {
        let offset = position.offset + at as u64;
        each(Located::new(Position { offset, ..position }, record));
    });
}

/// Whether a long line is binary: too much of it is not UTF-8 for replacement to be useful.
fn is_binary(bytes: &[u8]) -> bool {
    const REPAIRED: usize = 1000;
    bytes.len() > 64 << 10
        && bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).nth(REPAIRED).is_some()
}

#[cfg(test)]
mod tests;
