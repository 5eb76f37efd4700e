//! The imperative shell: bytes in, outputs of the emitter out. Lines, records and events are internal.
//!
//! It does no I/O: the caller reads a file, a pipe or a socket, and pushes the bytes. Chunks may end
//! anywhere.

mod decode;
mod drive;
mod line;
mod records;
mod relay;

use tracing::debug;

pub use self::{
    decode::{Damage, Decode, Reads, TextLines},
    drive::{
        Counts, Finished, LastSegment, SegmentLimits, Segments, Snapshot, SnapshotError, Within,
    },
    line::{DEFAULT_MAX_LINE, Encoding, FramerState, Line, LineFramer},
    records::{Records, RecordsRead, read_records},
};
use self::{
    drive::{Drive, Stage, Step, emitting},
    line::LineInputs,
};
use crate::{
    position::{Located, Position},
    transduce::{Emitter, Gather, Resume, Transducer},
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
///
/// The lines are [`Records`] of JSON, unless it is made [`of`](Self::of) another decoder.
#[derive(Debug)]
pub struct Processor<R, S, M, D: Decode = Records> {
    framer: LineFramer,
    drive: Drive<R, S, M, D>,
}

/// How many bytes are split into lines at once while there is a limit: few, as what remains of them when it is
/// reached is copied.
const SLICE: usize = 8 << 10;

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
    /// Drives `transducer` from the beginning of a log.
    pub fn new(transducer: Transducer<R, S, M>) -> Self {
        Self::with_framer(transducer, LineFramer::default())
    }

    /// Drives `transducer` with the lines that `framer` gives out.
    pub fn with_framer(transducer: Transducer<R, S, M>, framer: LineFramer) -> Self {
        Self::of(Records, transducer, framer)
    }

    /// Continues from a snapshot. The next bytes must be those at its position. An emitter without a memory
    /// is wrapped in [`Memoryless`](crate::transduce::Memoryless).
    pub fn resume(reducer: R, snapshot: Snapshot<S, M::State>, emitter: M, max_line: usize) -> Self
    where
        M: Resume,
    {
        Self::resume_of(Records, reducer, snapshot, emitter, max_line)
    }
}

impl<R, S, M, D: Decode> Processor<R, S, M, D> {
    /// Drives `transducer` with what `decoder` makes of the lines that `framer` gives out.
    pub fn of(decoder: D, transducer: Transducer<R, S, M>, framer: LineFramer) -> Self {
        let framer = framer.joining(D::JOINS_OBJECTS);
        Self { framer, drive: Drive::new(transducer, decoder) }
    }

    /// [Continues](Self::resume) from a snapshot with the same decoder.
    pub fn resume_of(
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
        let mut processor = Self::of(decoder, transducer, LineFramer::restore(framer, max_line));
        processor.drive.counts = counts;
        processor.drive.stage = Stage::Reading(within);
        processor
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
        let (framer, within, counts) = (self.framer_state(), self.drive.within(), self.counts());
        let (state, emitter) = (self.transducer().state(), self.transducer().emitter().state());
        Snapshot { framer, within, counts, state, emitter }
    }

    /// Takes the emitter's collected output since the last cut.
    pub fn cut(&mut self) -> M::Segment
    where
        M: Gather,
    {
        self.drive.transducer.emitter_mut().cut()
    }

    /// The same processor, which gives every event the SHA-256 value of the line that caused it
    /// ([`Located::line_sha256`]): of its bytes as they stand in the log, without the line end and
    /// without the byte order mark at the start of the log.
    #[must_use]
    pub fn with_line_hashes(mut self) -> Self {
        self.drive.hashes_lines = true;
        self
    }

    /// The same processor, which pauses as soon as its emitter has [collected](Gather::size) `size` or more,
    /// also in the middle of a line: what is left of the bytes that were pushed is kept, until
    /// [`go_on`](Self::go_on).
    #[must_use]
    pub fn pausing_at(mut self, size: usize) -> Self
    where
        M: Gather,
    {
        self.drive.limit = Some((M::size, size));
        self
    }

    /// Whether there are bytes that were pushed and not reduced, because of
    /// [`pausing_at`](Self::pausing_at).
    pub fn is_paused(&self) -> bool {
        matches!(self.drive.stage, Stage::Paused(_))
    }

    /// Counts of what was read so far.
    pub fn counts(&self) -> Counts {
        self.drive.counts
    }

    /// Where the next line begins: everything before it has been reduced. A line of which some records were
    /// reduced is still the next one.
    pub fn position(&self) -> Position {
        self.framer_state().position
    }

    /// Where the next record begins: everything before it has been reduced, and nothing else. That is
    /// [`position`](Self::position), except within a line that has several records.
    pub fn next_record(&self) -> Position {
        self.drive.within().map_or_else(|| self.position(), |within| within.next)
    }

    /// Whether the reducer is done ([`Reducer::is_done`](crate::transduce::Reducer::is_done)): further bytes are ignored, and the position stays
    /// after the line with which it was done.
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

    /// The emitter, for operations that do not depend on events, such as flushing it.
    pub fn emitter_mut(&mut self) -> &mut M {
        self.drive.transducer.emitter_mut()
    }

    /// Adds bytes, and reduces every line that they complete.
    pub fn push<E, Out>(&mut self, bytes: &[u8], mut each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.push_bytes(bytes, &mut emitting::<E, _, _>(&mut each));
        let Counts { lines, records, .. } = self.counts();
        debug!(bytes = bytes.len(), lines, records, "bytes processed");
    }

    /// Reduces what was kept when the processor [paused](Self::pausing_at), until it pauses again: one record
    /// at least.
    pub fn go_on<E, Out>(&mut self, mut each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.reduce_held(&mut emitting::<E, _, _>(&mut each));
    }

    /// The line that was begun is over, although it has no line end, and is reduced.
    pub fn end_line<E, Out>(&mut self, mut each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.reduce_last_line(&mut emitting::<E, _, _>(&mut each));
    }

    /// The log continues in another file: [ends the line](Self::end_line), and counts lines and bytes from the
    /// beginning again. The state stays.
    pub fn next_file<E, Out>(&mut self, mut each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        let step = &mut emitting::<E, _, _>(&mut each);
        self.reduce_last_line(step);
        self.drain(step);
        if !self.is_done() {
            self.framer.begin_again();
        }
    }

    // What follows takes `step` as it is: a reference to a reference would be another type, for which all of
    // this is compiled again.

    /// Reduces every line that `bytes` complete.
    fn push_bytes(&mut self, bytes: &[u8], step: &mut impl Step<R, S, M, D>) {
        if self.is_paused() {
            self.drive.keep(bytes);
            return self.reduce_held(step);
        }
        self.drive.look(self.framer.state(), step);
        self.reduce(bytes, step);
    }

    /// Reduces what was kept, and the line that was begun.
    fn reduce_last_line(&mut self, step: &mut impl Step<R, S, M, D>) {
        self.drain(step);
        let Self { framer, drive } = self;
        drive.begin = framer.state();
        framer.finish(|line| drive.take(line, step));
    }

    /// Reduces what was kept, until the processor pauses.
    fn reduce_held(&mut self, step: &mut impl Step<R, S, M, D>) {
        let bytes = self.drive.go_on(step);
        self.reduce(&bytes, step);
    }

    /// Reduces what was kept, without pausing.
    fn drain(&mut self, step: &mut impl Step<R, S, M, D>) {
        let limit = self.drive.limit.take();
        self.reduce_held(step);
        self.drive.limit = limit;
    }

    /// Reduces the lines that `bytes` complete, and keeps what remains when the limit is reached.
    fn reduce(&mut self, bytes: &[u8], step: &mut impl Step<R, S, M, D>) {
        let Self { framer, drive } = self;
        let slice = if drive.limit.is_some() { SLICE } else { usize::MAX };
        let mut rest = bytes;
        while !rest.is_empty() && drive.may_go_on() {
            let (next, after) = rest.split_at(rest.len().min(slice));
            drive.begin = framer.state();
            framer.push(next, |line| drive.take(line, step));
            rest = after;
        }
        drive.keep(rest);
    }

    /// The input pauses, and may have been cut within a line: reduces the last line, which has no line
    /// end, if it consists of whole records only.
    pub fn flush_last_line<E, Out>(&mut self, mut each: impl FnMut(Out)) -> LastLine
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        let step = &mut emitting::<E, _, _>(&mut each);
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

    /// The end of input: reduces what remains, and releases what was held back.
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
