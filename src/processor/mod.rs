//! The imperative shell: takes bytes, and returns the outputs of the emitter. Lines, records and events are internal.
//!
//! It does no I/O: the caller reads a file, a pipe or a socket, and pushes the bytes. Chunks may have any length.

mod decode;
mod drive;
mod line;
mod relay;

use std::mem;

use tracing::debug;

pub use self::{
    decode::{Damage, Decode, Reads, TextLines},
    drive::{
        Collect, Counts, Finished, LastSegment, SegmentLimits, Segments, Snapshot, SnapshotError,
        Within,
    },
    line::{DEFAULT_MAX_LINE, Encoding, FramerState, JsonShortener, Line, LineFramer},
    relay::{HeapSize, ParseAhead},
};
use self::{
    drive::{Drive, Stage, Step, emitting},
    line::LineInputs,
};
use crate::{
    position::{Located, Position},
    transduce::{Emitter, Resume, Transducer},
};

/// Drives a [`Transducer`] with bytes.
///
/// ```
/// use foldline::{
///     position::{by_item, locating}, processor::{Processor, TextLines},
///     transduce::{Batch, Transducer, emit_fn, reduce_fn},
/// };
///
/// let lengths = reduce_fn(|| 0, |total: usize, line: &str| {
///     let total = total + line.len();
///     (total, Batch::one(total))
/// });
/// let print = by_item(emit_fn(|total: &usize| Batch::one(format!("{total} characters"))));
/// let mut processor = Processor::new(TextLines, Transducer::new(locating(lengths), print));
///
/// let mut out = Vec::new();
/// processor.push(b"one\ntw", |line| out.push(line));
/// processor.push(b"o\n", |line| out.push(line));
/// processor.finish(|line| out.push(line));
/// assert_eq!(out, ["3 characters", "6 characters"]);
/// ```
#[derive(Debug)]
pub struct Processor<R, S, M, D: Decode> {
    framer: LineFramer,
    drive: Drive<R, S, M, D>,
}

/// The number of bytes that are split into lines at once if the processor pauses: small, because the rest is copied
/// when it does.
const SLICE: usize = 8 << 10;

/// The result of [`Processor::flush_last_line`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastLine {
    /// There was no partial line: the input ends with a line end.
    None,
    /// It was a complete record, and was reduced.
    Taken,
    /// It may be incomplete, and was left: the position is before it.
    Left,
}

/// Reads the inputs that `decoder` extracts from a line.
///
/// Line breaks within an input that spans several lines become spaces, so that a copied part of the input is always
/// one line.
pub fn read_inputs<D: Decode>(
    line: Line<'_>,
    decoder: &D,
    mut each: impl FnMut(Located<D::Input<'_>>),
) {
    let mut inputs = LineInputs::new(line);
    while let Some(input) = inputs.next(decoder) {
        each(input);
    }
}

impl<R, S, M, D: Decode> Processor<R, S, M, D> {
    /// Drives `transducer` with the inputs that `decoder` extracts from the lines of a log, from its beginning.
    pub fn new(decoder: D, transducer: Transducer<R, S, M>) -> Self {
        Self::with_framer(decoder, transducer, LineFramer::default())
    }

    /// Drives `transducer` with the inputs that `decoder` extracts from the lines of `framer`.
    pub fn with_framer(decoder: D, transducer: Transducer<R, S, M>, framer: LineFramer) -> Self {
        let framer = framer.joining(D::JOINS_OBJECTS);
        Self { framer, drive: Drive::new(transducer, decoder) }
    }

    /// Continues from a snapshot with the same decoder. The next bytes must be the bytes at its position. An emitter
    /// without a memory is wrapped in [`Memoryless`](crate::transduce::Memoryless).
    pub fn resume(
        decoder: D,
        reducer: R,
        snapshot: Snapshot<S, M::State>,
        mut emitter: M,
        max_line: usize,
    ) -> Self
    where
        M: Resume,
    {
        let Snapshot { framer, within, counts, state, emitter: memory } = snapshot;
        emitter.resume(memory);
        let transducer = Transducer::restore(reducer, state, emitter);
        let framer = LineFramer::restore(framer, max_line);
        let mut processor = Self::with_framer(decoder, transducer, framer);
        processor.drive.counts = counts;
        processor.drive.stage = Stage::Reading(within);
        processor
    }

    /// The state to store, including the memory of the emitter: exactly everything before its position was reduced.
    ///
    /// # Panics
    /// If the reducer panicked in an earlier step; see [`Transducer`].
    pub fn snapshot(&self) -> Snapshot<&S, M::State>
    where
        M: Resume,
    {
        let (framer, within, counts) = (self.framer_state(), self.drive.within(), self.counts());
        let (state, emitter) = (self.transducer().state(), self.transducer().emitter().state());
        Snapshot { framer, within, counts, state, emitter }
    }

    /// Adds to every event the SHA-256 digest of the line that caused it ([`Located::line_sha256`]): of its bytes in
    /// the log, without the line end and without the byte order mark at the start of the log.
    #[must_use]
    pub fn with_line_hashes(mut self) -> Self {
        self.drive.hashes_lines = true;
        self
    }

    /// Counts of the data read so far.
    pub fn counts(&self) -> Counts {
        self.drive.counts
    }

    /// The position of the next line: everything before it has been reduced. A line of which only some records were
    /// reduced is still the next one.
    pub fn position(&self) -> Position {
        self.framer_state().position
    }

    /// The position of the next record: exactly everything before it has been reduced. Equals
    /// [`position`](Self::position), except within a line that has several records.
    pub fn next_record(&self) -> Position {
        self.drive.within().map_or_else(|| self.position(), |within| within.next)
    }

    /// Whether the reducer is done ([`Reducer::is_done`](crate::transduce::Reducer::is_done)): further bytes are
    /// ignored, and the position stays after the line that completed it.
    pub fn is_done(&self) -> bool {
        self.drive.is_done()
    }

    fn framer_state(&self) -> FramerState {
        self.drive.framer_state(self.framer.state())
    }

    /// The transducer.
    pub fn transducer(&self) -> &Transducer<R, S, M> {
        &self.drive.transducer
    }

    /// The emitter, mutable, for operations that do not depend on events, such as flushing it.
    pub fn emitter_mut(&mut self) -> &mut M {
        self.drive.transducer.emitter_mut()
    }

    /// Pushes bytes, and reduces every completed line.
    pub fn push<E, Out>(&mut self, bytes: &[u8], mut each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.push_by(bytes, &mut emitting::<E, _, _>(&mut each));
    }

    /// Ends the current line, although it has no line end, and reduces it.
    pub fn end_line<E, Out>(&mut self, mut each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.reduce_last_line(&mut emitting::<E, _, _>(&mut each));
    }

    /// The log continues in another file: [ends the line](Self::end_line), and restarts the counting of lines and
    /// bytes. The state stays.
    pub fn next_file<E, Out>(&mut self, mut each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.end_file(&mut emitting::<E, _, _>(&mut each));
    }

    // The following functions take `step` as it is: a reference to a reference would be another type, and all of this
    // would be compiled again for it.

    fn push_by(&mut self, bytes: &[u8], step: &mut impl Step<R, S, M, D>) {
        self.push_bytes(bytes, step);
        let Counts { lines, records, .. } = self.counts();
        debug!(bytes = bytes.len(), lines, records, "bytes processed");
    }

    /// Reduces every line that `bytes` complete.
    fn push_bytes(&mut self, bytes: &[u8], step: &mut impl Step<R, S, M, D>) {
        if self.is_paused() {
            self.drive.keep(bytes);
            return self.reduce_held(step);
        }
        self.drive.look(self.framer.state(), step);
        self.reduce(bytes, step);
    }

    /// Whether pushed bytes are held.
    fn is_paused(&self) -> bool {
        matches!(self.drive.stage, Stage::Paused(_))
    }

    /// Reduces the held data, and the current line.
    fn reduce_last_line(&mut self, step: &mut impl Step<R, S, M, D>) {
        self.drain(step);
        let Self { framer, drive } = self;
        drive.begin = framer.state();
        framer.finish(|line| drive.take(line, step));
    }

    /// Reduces the held data, until the processor pauses.
    fn reduce_held(&mut self, step: &mut impl Step<R, S, M, D>) {
        let bytes = self.drive.go_on(step);
        self.reduce(&bytes, step);
    }

    /// Reduces the held data, without pausing.
    fn drain(&mut self, step: &mut impl Step<R, S, M, D>) {
        let pauses = mem::take(&mut self.drive.pauses);
        self.reduce_held(step);
        self.drive.pauses = pauses;
    }

    /// Reduces the lines that `bytes` complete, and holds the rest when the step is full.
    fn reduce(&mut self, bytes: &[u8], step: &mut impl Step<R, S, M, D>) {
        let Self { framer, drive } = self;
        let slice = if drive.pauses { SLICE } else { usize::MAX };
        let mut rest = bytes;
        while !rest.is_empty() && drive.may_go_on(step) {
            let (next, after) = rest.split_at(rest.len().min(slice));
            drive.begin = framer.state();
            framer.push(next, |line| drive.take(line, step));
            rest = after;
        }
        drive.keep(rest);
    }

    fn end_file(&mut self, step: &mut impl Step<R, S, M, D>) {
        self.reduce_last_line(step);
        self.drain(step);
        if !self.is_done() {
            self.framer.begin_again();
        }
    }

    /// The input pauses, and may have been cut within a line: reduces the last line, which has no line end, if it
    /// consists of complete records only.
    pub fn flush_last_line<E, Out>(&mut self, mut each: impl FnMut(Out)) -> LastLine
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.end_whole_line(&mut emitting::<E, _, _>(&mut each))
    }

    fn end_whole_line(&mut self, step: &mut impl Step<R, S, M, D>) -> LastLine {
        self.drain(step);
        if self.is_done() {
            return LastLine::None;
        }
        let (decoder, mut inputs, mut is_whole) = (&self.drive.decoder, 0, true);
        self.framer.clone().finish(|line| {
            let mut line = LineInputs::new(line);
            while let Some(input) = line.next(decoder) {
                inputs += 1;
                is_whole &= decoder.is_whole(&input.item);
            }
        });
        match (inputs, is_whole) {
            (0, _) => LastLine::None,
            (_, false) => LastLine::Left,
            (_, true) => {
                self.reduce_last_line(step);
                LastLine::Taken
            }
        }
    }

    /// The end of input: reduces the rest, and releases held data.
    pub fn finish<E, Out>(mut self, mut each: impl FnMut(Out)) -> Finished<S, M>
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        {
            let step = &mut emitting::<E, _, _>(&mut each);
            self.reduce_last_line(step);
            self.drain(step);
        }
        let framer = self.framer_state();
        let Drive { transducer, counts, .. } = self.drive;
        let (state, emitter, rest) = transducer.finish::<Located<D::Input<'_>>, E, Out>();
        rest.drain_with(&mut each);
        let Counts { lines, blank, records } = counts;
        debug!(lines, blank, records, "log processed");
        Finished { framer, counts, state, emitter }
    }
}
