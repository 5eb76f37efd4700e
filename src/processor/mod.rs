//! The imperative shell: bytes in, outputs of the emitter out. Lines, records and events are internal.
//!
//! It does no I/O: the caller reads a file, a pipe or a socket, and pushes the bytes. Chunks may end
//! anywhere.

mod ahead;
mod background;
mod encoding;
mod framer;
mod joiner;
mod line;
mod offsets;
mod overlong;
mod records;
mod relay;
mod snapshot;
mod steps;
mod stretches;
mod turns;

use std::{collections::VecDeque, mem};

use tracing::debug;

use self::steps::{Limit, OpenLine, Step, Steps, emitting};

pub use self::{
    background::Background,
    encoding::Encoding,
    framer::{DEFAULT_MAX_LINE, LineFramer},
    line::{FramerState, Line},
    records::read_records,
    snapshot::{Counts, Finished, Snapshot, SnapshotError, Within},
    stretches::{LastStretch, StretchLimits, Stretches},
};
use crate::{
    conversation::{DomainEvent, Located, Position},
    transduce::{Emitter, Gather, Reducer, Resume, Transducer},
    wire::Record,
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
    limit: Option<Limit<M>>,
    held: Held,
    /// The next line that is read was reduced up to there an earlier time.
    within: Option<Within>,
}

/// What was pushed and is not reduced, because the limit was reached.
#[derive(Debug, Default)]
struct Held {
    /// Lines, the first of which may be reduced in part.
    lines: VecDeque<OpenLine<'static>>,
    /// The bytes behind them.
    bytes: Vec<u8>,
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
        let Snapshot { framer, within, counts, state, emitter: memory } = snapshot;
        emitter.resume(memory);
        let framer = LineFramer::restore(framer, max_line);
        let transducer = Transducer::restore(reducer, state, emitter);
        Self { within, counts, ..Self::with_framer(transducer, framer) }
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
        let (framer, within, counts) = (self.framer_state(), self.within(), self.counts);
        let (state, emitter) = (self.transducer.state(), self.transducer.emitter().state());
        Snapshot { framer, within, counts, state, emitter }
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
        Self {
            framer,
            transducer,
            counts: Counts::default(),
            hashes_lines: false,
            done: None,
            limit: None,
            held: Held::default(),
            within: None,
        }
    }

    /// The same processor, which gives every event the SHA-256 value of the line that caused it
    /// ([`Located::line_sha256`]): of its bytes as they stand in the log, without the line end and
    /// without the byte order mark at the start of the log.
    #[must_use]
    pub fn with_line_hashes(mut self) -> Self {
        self.hashes_lines = true;
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
        self.limit = Some((M::size, size));
        self
    }

    /// Whether there are bytes that were pushed and not reduced, because of
    /// [`pausing_at`](Self::pausing_at).
    pub fn is_paused(&self) -> bool {
        !(self.held.lines.is_empty() && self.held.bytes.is_empty())
    }

    /// Counts of what was read so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Where the next line begins: everything before it has been reduced. A line of which some records were
    /// reduced is still the next one.
    pub fn position(&self) -> Position {
        self.framer_state().position
    }

    /// Where the next record begins: everything before it has been reduced, and nothing else. That is
    /// [`position`](Self::position), except within a line that has several records.
    pub fn next_record(&self) -> Position {
        self.within().map_or_else(|| self.position(), |within| within.next)
    }

    /// Whether the reducer is done ([`Reducer::is_done`]): further bytes are ignored, and the position stays
    /// after the line with which it was done.
    pub fn is_done(&self) -> bool {
        self.done.is_some()
    }

    fn framer_state(&self) -> FramerState {
        match (self.done, self.held.lines.front()) {
            (Some(done), _) if done.position != self.framer.position() => done,
            (None, Some(line)) => line.begin,
            _ => self.framer.state(),
        }
    }

    fn within(&self) -> Option<Within> {
        match self.held.lines.front() {
            Some(line) => line.within(),
            None => self.within,
        }
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
        self.push_bytes(bytes, &mut emitting(&mut each));
        let Counts { lines, records, .. } = self.counts;
        debug!(bytes = bytes.len(), lines, records, "bytes processed");
    }

    /// Reduces what was kept when the processor [paused](Self::pausing_at), until it pauses again: one record
    /// at least.
    pub fn go_on<Out>(&mut self, mut each: impl FnMut(Out))
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        self.reduce_held(&mut emitting(&mut each));
    }

    /// The line that was begun is over, although it has no line end, and is reduced.
    pub fn end_line<Out>(&mut self, mut each: impl FnMut(Out))
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        self.reduce_last_line(&mut emitting(&mut each));
    }

    /// The log continues in another file: [ends the line](Self::end_line), and counts lines and bytes from the
    /// beginning again. The state stays.
    pub fn next_file<Out>(&mut self, mut each: impl FnMut(Out))
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        let step = &mut emitting(&mut each);
        self.reduce_last_line(step);
        self.drain(step);
        if self.done.is_none() {
            self.framer.begin_again();
        }
    }

    // What follows takes `step` as it is: a reference to a reference would be another type, for which all of
    // this is compiled again.

    /// Reduces every line that `bytes` complete.
    fn push_bytes(&mut self, bytes: &[u8], step: &mut impl Step<R, S, M>)
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    {
        if self.done.is_none()
            && self.transducer.is_done::<Located<Record<'_>>, Located<DomainEvent>>()
        {
            self.done = Some(self.framer.state());
        }
        if self.is_paused() {
            self.held.bytes.extend_from_slice(bytes);
            return self.reduce_held(step);
        }
        self.reduce(bytes, step);
    }

    /// Reduces what was kept, and the line that was begun.
    fn reduce_last_line(&mut self, step: &mut impl Step<R, S, M>)
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    {
        self.drain(step);
        let (framer, mut steps) = self.steps();
        framer.finish(|line| steps.take(line, step));
    }

    /// Reduces what was kept, until the processor pauses.
    fn reduce_held(&mut self, step: &mut impl Step<R, S, M>)
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    {
        let bytes = mem::take(&mut self.held.bytes);
        self.reduce(&bytes, step);
    }

    /// Reduces what was kept, without pausing.
    fn drain(&mut self, step: &mut impl Step<R, S, M>)
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    {
        let limit = self.limit.take();
        self.reduce_held(step);
        self.limit = limit;
    }

    /// Reduces the lines that are held, and then those that `bytes` complete.
    fn reduce(&mut self, bytes: &[u8], step: &mut impl Step<R, S, M>)
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    {
        let slice = if self.limit.is_some() { SLICE } else { usize::MAX };
        let (framer, mut steps) = self.steps();
        steps.held(step);
        let mut rest = bytes;
        while !rest.is_empty() && steps.may_go_on() {
            let (next, after) = rest.split_at(rest.len().min(slice));
            steps.begin = framer.state();
            framer.push(next, |line| steps.take(line, step));
            rest = after;
        }
        if self.done.is_none() {
            self.held.bytes.extend_from_slice(rest);
        }
    }

    fn steps(&mut self) -> (&mut LineFramer, Steps<'_, R, S, M>) {
        let Self { framer, transducer, counts, hashes_lines, done, limit, held, within } = self;
        let steps = Steps {
            transducer,
            counts,
            hashes_lines: *hashes_lines,
            done,
            limit: *limit,
            held: &mut held.lines,
            within,
            begin: framer.state(),
            has_moved: false,
        };
        (framer, steps)
    }

    /// The input pauses, and may have been cut within a line: reduces the last line, which has no line
    /// end, if it consists of whole records only.
    pub fn flush_last_line<Out>(&mut self, mut each: impl FnMut(Out)) -> LastLine
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        let step = &mut emitting(&mut each);
        self.drain(step);
        if self.done.is_some() {
            return LastLine::None;
        }
        let (mut records, mut is_whole) = (0, true);
        self.framer.clone().finish(|line| {
            read_records(line, |record| {
                records += 1;
                is_whole &= matches!(record.item, Record::Object(_));
            });
        });
        match (records, is_whole) {
            (0, _) => LastLine::None,
            (_, false) => LastLine::Left,
            (_, true) => {
                self.reduce_last_line(step);
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
        {
            let step = &mut emitting(&mut each);
            self.reduce_last_line(step);
            self.drain(step);
        }
        let framer = self.framer_state();
        let (state, emitter, rest) = self.transducer.finish();
        rest.drain_with(&mut each);
        let Counts { lines, blank, records } = self.counts;
        debug!(lines, blank, records, "log processed");
        Finished { framer, counts: self.counts, state, emitter }
    }
}

#[cfg(test)]
mod tests;
