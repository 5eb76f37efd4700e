//! [`Drive`]: lines through a transducer, input by input; its state as a value, and its output in segments.

mod collect;
mod segments;
mod snapshot;

use std::{marker::PhantomData, mem, sync::Arc};

pub use self::{
    collect::Collect,
    segments::{LastSegment, SegmentLimits, Segments},
    snapshot::{Counts, Finished, Snapshot, SnapshotError, Within},
};
use super::{
    decode::{Decode, Reads},
    line::{FramerState, Line, LineInputs, shift},
};
use crate::{
    position::{Digest, Located, Position},
    transduce::{Emitter, Transducer},
};

/// A line whose inputs are being reduced; `C` is the decoder's cursor.
#[derive(Debug)]
pub(in crate::processor) struct OpenLine<'b, C> {
    inputs: LineInputs<'b, C>,
    /// The state from which the line is read again.
    begin: FramerState,
    next: FramerState,
    lines: u64,
    digest: Option<Arc<Digest>>,
}

impl<'b, C: Default> OpenLine<'b, C> {
    pub(in crate::processor) fn new(
        line: Line<'b>,
        begin: FramerState,
        hashes_lines: bool,
    ) -> Self {
        let digest = (hashes_lines && !line.bytes.is_empty()).then(|| Arc::new(line.digest()));
        let Line { lines, next, .. } = line;
        Self { inputs: LineInputs::new(line), begin, next, lines, digest }
    }

    /// The input that is the whole line, if the decoder knows it.
    pub(in crate::processor) fn whole<D>(&self, decoder: &D) -> Option<Located<D::Input<'b>>>
    where
        D: Decode<Cursor = C>,
    {
        let (text, position) = self.inputs.verbatim()?;
        let (at, input) = decoder.whole(text)?;
        Some(Located::new(position(at), input).with_line_sha256(self.digest.clone()))
    }

    /// Shifts the position of the line by `before`.
    pub(in crate::processor) fn shift(&mut self, before: Position) {
        self.inputs.shift(before);
        shift(&mut self.begin.position, before);
        shift(&mut self.next.position, before);
    }

    /// The state from which to continue after the line.
    pub(in crate::processor) fn next(&self) -> FramerState {
        self.next
    }

    fn into_owned(self) -> OpenLine<'static, C> {
        let Self { inputs, begin, next, lines, digest } = self;
        OpenLine { inputs: inputs.into_owned(), begin, next, lines, digest }
    }
}

/// The processing of each input.
pub(in crate::processor) trait Step<R, S, M, D: Decode> {
    fn step(&mut self, transducer: &mut Transducer<R, S, M>, input: Located<D::Input<'_>>);

    /// Whether no further input can have an effect.
    fn is_done(&self, transducer: &Transducer<R, S, M>) -> bool;

    /// Whether the processor pauses before the next input.
    fn is_full(&self) -> bool {
        false
    }
}

/// Reduces an input, emits its events, and passes every output to a closure.
pub(in crate::processor) struct Emitting<F, E, Out>(F, PhantomData<fn(E) -> Out>);

pub(in crate::processor) fn emitting<E, Out, F: FnMut(Out)>(each: F) -> Emitting<F, E, Out> {
    Emitting(each, PhantomData)
}

impl<D, R, S, M, E, Out, F> Step<R, S, M, D> for Emitting<F, E, Out>
where
    D: Decode,
    R: Reads<D, S, E>,
    M: Emitter<E, Out>,
    F: FnMut(Out),
{
    fn step(&mut self, transducer: &mut Transducer<R, S, M>, input: Located<D::Input<'_>>) {
        transducer.step_with::<_, E, Out>(input, &mut self.0);
    }

    fn is_done(&self, transducer: &Transducer<R, S, M>) -> bool {
        transducer.is_done::<Located<D::Input<'_>>, E>()
    }
}

/// Reduces an input, emits its events, and collects every output; full from this size on.
pub(in crate::processor) struct Collecting<'c, C, E> {
    collected: &'c mut C,
    limit: usize,
    event: PhantomData<fn(E)>,
}

pub(in crate::processor) fn collecting<C, E>(
    collected: &mut C,
    limit: usize,
) -> Collecting<'_, C, E> {
    Collecting { collected, limit, event: PhantomData }
}

impl<D, R, S, M, E, C> Step<R, S, M, D> for Collecting<'_, C, E>
where
    D: Decode,
    R: Reads<D, S, E>,
    M: Emitter<E, C::Item>,
    C: Collect,
{
    fn step(&mut self, transducer: &mut Transducer<R, S, M>, input: Located<D::Input<'_>>) {
        transducer.step_with(input, |output| self.collected.add(output));
    }

    fn is_done(&self, transducer: &Transducer<R, S, M>) -> bool {
        transducer.is_done::<Located<D::Input<'_>>, E>()
    }

    fn is_full(&self) -> bool {
        self.collected.size() >= self.limit
    }
}

/// Reduces an input, and passes every event to a closure: the emitter is elsewhere.
pub(in crate::processor) struct Reducing<F, E>(F, PhantomData<fn(E)>);

pub(in crate::processor) fn reducing<E, F: FnMut(E)>(each: F) -> Reducing<F, E> {
    Reducing(each, PhantomData)
}

impl<D, R, S, M, E, F> Step<R, S, M, D> for Reducing<F, E>
where
    D: Decode,
    R: Reads<D, S, E>,
    F: FnMut(E),
{
    fn step(&mut self, transducer: &mut Transducer<R, S, M>, input: Located<D::Input<'_>>) {
        transducer.reduce(|reducer, state| reducer.reduce(state, input)).drain_with(&mut self.0);
    }

    fn is_done(&self, transducer: &Transducer<R, S, M>) -> bool {
        transducer.is_done::<Located<D::Input<'_>>, E>()
    }
}

/// The treatment of the next line.
#[derive(Debug)]
pub(in crate::processor) enum Stage<C> {
    /// It is reduced, starting after the part that was reduced earlier.
    Reading(Option<Within>),
    /// It is held, because the step is full.
    Paused(Held<C>),
    /// It is ignored: the reducer was done at this point.
    Done(FramerState),
}

/// Pushed data that is not reduced yet, because the step is full.
#[derive(Debug)]
pub(in crate::processor) struct Held<C> {
    /// Lines, of which the first may be partly reduced.
    pub(in crate::processor) lines: Vec<OpenLine<'static, C>>,
    /// The bytes after these lines.
    pub(in crate::processor) bytes: Vec<u8>,
}

/// A processor without its framer.
#[derive(Debug)]
pub(in crate::processor) struct Drive<R, S, M, D: Decode> {
    pub(in crate::processor) transducer: Transducer<R, S, M>,
    pub(in crate::processor) decoder: D,
    pub(in crate::processor) counts: Counts,
    pub(in crate::processor) hashes_lines: bool,
    /// Whether it pauses when the step is full.
    pub(in crate::processor) pauses: bool,
    pub(in crate::processor) stage: Stage<D::Cursor>,
    /// The state from which the next line is read again.
    pub(in crate::processor) begin: FramerState,
    /// Whether an input was reduced since the last call to continue: at least one is, regardless of the limit.
    has_moved: bool,
}

impl<R, S, M, D: Decode> Drive<R, S, M, D> {
    pub(in crate::processor) fn new(transducer: Transducer<R, S, M>, decoder: D) -> Self {
        let (counts, stage, begin) = Default::default();
        let stage = Stage::Reading(stage);
        Self {
            transducer,
            decoder,
            counts,
            hashes_lines: false,
            pauses: false,
            stage,
            begin,
            has_moved: false,
        }
    }

    pub(in crate::processor) fn replace_emitter<N>(self, emitter: N) -> (Drive<R, S, N, D>, M) {
        let Self { transducer, decoder, counts, hashes_lines, pauses, stage, begin, has_moved } =
            self;
        let (transducer, before) = transducer.replace_emitter(emitter);
        let next =
            Drive { transducer, decoder, counts, hashes_lines, pauses, stage, begin, has_moved };
        (next, before)
    }

    /// How much of the next line was reduced; `None` if nothing was.
    pub(in crate::processor) fn within(&self) -> Option<Within> {
        match &self.stage {
            Stage::Reading(within) => *within,
            Stage::Paused(held) => {
                let OpenLine { inputs, .. } = held.lines.first()?;
                let records = inputs.read();
                let next = inputs.pause(&self.decoder).filter(|_| records > 0)?;
                Some(Within { records, next })
            }
            Stage::Done(_) => None,
        }
    }

    /// The state from which to continue, with a framer that is at `framer`.
    pub(in crate::processor) fn framer_state(&self, framer: FramerState) -> FramerState {
        match &self.stage {
            Stage::Done(done) if done.position != framer.position => *done,
            Stage::Paused(Held { lines, .. }) => lines.first().map_or(framer, |line| line.begin),
            _ => framer,
        }
    }

    pub(in crate::processor) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done(_))
    }

    /// The reducer may be done before it reads anything, for example after a snapshot.
    pub(in crate::processor) fn look(&mut self, at: FramerState, step: &impl Step<R, S, M, D>) {
        if matches!(self.stage, Stage::Reading(_)) && step.is_done(&self.transducer) {
            self.stage = Stage::Done(at);
        }
    }

    /// Reduces the held lines, and returns the bytes after them.
    pub(in crate::processor) fn go_on(&mut self, step: &mut impl Step<R, S, M, D>) -> Vec<u8> {
        self.has_moved = false;
        let Stage::Paused(Held { lines, bytes }) = &mut self.stage else { return Vec::new() };
        let (lines, bytes) = (mem::take(lines), mem::take(bytes));
        self.stage = Stage::Reading(None);
        lines.into_iter().for_each(|line| self.take_open(line, step));
        bytes
    }

    /// Holds bytes that follow the held ones; nothing is read after the end.
    pub(in crate::processor) fn keep(&mut self, more: &[u8]) {
        match &mut self.stage {
            Stage::Paused(held) => held.bytes.extend_from_slice(more),
            Stage::Reading(_) if !more.is_empty() => {
                let (lines, bytes) = (Vec::new(), more.to_vec());
                self.stage = Stage::Paused(Held { lines, bytes });
            }
            Stage::Reading(_) | Stage::Done(_) => {}
        }
    }

    /// Whether further lines can be reduced.
    pub(in crate::processor) fn may_go_on(&self, step: &impl Step<R, S, M, D>) -> bool {
        matches!(self.stage, Stage::Reading(_)) && !self.is_full(step)
    }

    fn is_full(&self, step: &impl Step<R, S, M, D>) -> bool {
        self.has_moved && self.pauses && step.is_full()
    }

    /// Reduces the next line, or holds it if lines are held already.
    pub(in crate::processor) fn take(&mut self, line: Line<'_>, step: &mut impl Step<R, S, M, D>) {
        let begin = mem::replace(&mut self.begin, line.next);
        if !self.is_done() {
            self.take_open(OpenLine::new(line, begin, self.hashes_lines), step);
        }
    }

    /// Like `take`, for a line that was opened ahead of its turn.
    pub(in crate::processor) fn take_open(
        &mut self,
        line: OpenLine<'_, D::Cursor>,
        step: &mut impl Step<R, S, M, D>,
    ) {
        match &mut self.stage {
            Stage::Done(_) => {}
            Stage::Paused(held) => held.lines.push(line.into_owned()),
            Stage::Reading(within) => {
                let within = within.take();
                if let Some(rest) = self.line(line, within, step) {
                    let (lines, bytes) = (vec![rest.into_owned()], Vec::new());
                    self.stage = Stage::Paused(Held { lines, bytes });
                }
            }
        }
    }

    /// Reduces a line, or as much of it as the limit allows, and returns the rest.
    fn line<'b>(
        &mut self,
        mut line: OpenLine<'b, D::Cursor>,
        within: Option<Within>,
        step: &mut impl Step<R, S, M, D>,
    ) -> Option<OpenLine<'b, D::Cursor>> {
        if let Some(Within { records, .. }) = within {
            line.inputs.skip(&self.decoder, records);
        }
        loop {
            if self.is_full(step) && line.inputs.pause(&self.decoder).is_some() {
                return Some(line);
            }
            let Some(input) = line.inputs.next(&self.decoder) else { break };
            self.decoder.note(&input.item, input.position);
            self.counts.records += 1;
            self.has_moved = true;
            step.step(&mut self.transducer, input.with_line_sha256(line.digest.clone()));
        }
        self.counts.lines += line.lines;
        self.counts.blank += u64::from(line.inputs.is_blank());
        self.look(line.next, step);
        None
    }

    /// Accounts for a line with a single input that was reduced elsewhere.
    pub(in crate::processor) fn was_reduced(
        &mut self,
        next: FramerState,
        step: &impl Step<R, S, M, D>,
    ) {
        self.begin = next;
        self.counts.lines += 1;
        self.counts.records += 1;
        self.look(next, step);
    }
}
