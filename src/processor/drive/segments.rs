//! [`Segments`]: reads one source in segments, which become commits.

use std::mem;

use serde::Serialize;

use super::{Collect, Decode, Finished, Reads, collecting};
use crate::{
    ledger::{Checkpoint, Commit, Identity, SourceFacts, SourceName},
    position::Position,
    processor::{LastLine, Processor},
    transduce::{Emitter, Resume},
};

/// Limits at which a segment is due for commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLimits {
    /// Bytes of the source.
    pub bytes: u64,
    /// Bytes of collected output, as measured by [`Collect::size`].
    pub size: usize,
}

impl Default for SegmentLimits {
    /// One mebibyte of the source, or eight mebibytes of output.
    fn default() -> Self {
        Self { bytes: 1 << 20, size: 8 << 20 }
    }
}

/// The last segment of a complete source, and the finished processor.
pub type LastSegment<S, M, C> = (Commit<C>, Finished<S, M>);

/// Reads one source, and splits its output into the segments that a
/// [`Ledger`](crate::ledger::Ledger) commits.
///
/// The outputs of the emitter are collected in a `C`, which is the output of the commit.
///
/// Each commit begins where the previous one ended, and contains the state of the whole pipeline at its end: a run
/// that loads it continues as if it had not been interrupted.
///
/// A segment that is full [is due](Self::is_due), and holds the rest of what was pushed. After each push, commit and
/// [go on](Self::go_on) until it is due no longer; otherwise the rest is not read:
///
/// ```text
/// segments.push(bytes);
/// loop {
///     let is_due = segments.is_due();
///     ledger.commit(&[segments.commit(identity)?], &[])?;
///     if !is_due { break }
///     segments.go_on();
/// }
/// ```
///
/// The example `access_log` is a whole run.
#[derive(Debug)]
pub struct Segments<R, S, M, C, D: Decode> {
    processor: Processor<R, S, M, D>,
    name: SourceName,
    facts: SourceFacts,
    /// The position of the last commit; `None` before the first.
    expected: Option<Position>,
    /// The start of the uncommitted segment.
    begun: u64,
    limits: SegmentLimits,
    /// The output of the uncommitted segment.
    collected: C,
}

impl<R, S, M, C: Collect, D: Decode> Segments<R, S, M, C, D> {
    /// Reads a source that the ledger has stored up to `expected`, which is the processor's [next
    /// record](Processor::next_record); `None` for a source that is not in the ledger.
    pub fn new(
        name: SourceName,
        facts: SourceFacts,
        expected: Option<Position>,
        mut processor: Processor<R, S, M, D>,
    ) -> Self {
        let (begun, limits) = (processor.next_record().offset, SegmentLimits::default());
        processor.drive.pauses = true;
        Self { processor, name, facts, expected, begun, limits, collected: C::default() }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: SegmentLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The inner processor.
    pub fn processor(&self) -> &Processor<R, S, M, D> {
        &self.processor
    }

    /// The inner processor, mutable.
    pub fn processor_mut(&mut self) -> &mut Processor<R, S, M, D> {
        &mut self.processor
    }

    /// Returns the processor; data read since the last commit is not committed.
    pub fn into_processor(self) -> Processor<R, S, M, D> {
        self.processor
    }

    /// Facts about the source that are not in its content.
    pub fn facts(&self) -> &SourceFacts {
        &self.facts
    }

    /// The position of the last commit.
    pub fn committed(&self) -> Option<Position> {
        self.expected
    }

    /// The output since the last commit.
    pub fn collected(&self) -> &C {
        &self.collected
    }

    /// Takes the output since the last commit, for a caller that writes it before its commit.
    pub fn take(&mut self) -> C {
        mem::take(&mut self.collected)
    }

    /// The number of bytes of the source since the last commit.
    pub fn pending_bytes(&self) -> u64 {
        self.processor.next_record().offset.saturating_sub(self.begun)
    }

    /// Whether anything was read since the last commit.
    pub fn has_news(&self) -> bool {
        self.expected != Some(self.processor.next_record())
    }

    /// Whether pushed bytes are [held](Self::go_on), because the output has reached its limit.
    pub fn is_paused(&self) -> bool {
        self.processor.is_paused()
    }

    /// Whether the segment is long enough to be committed. Pushed data is reduced only up to this point, even within
    /// a line: commit, and [continue](Self::go_on), until no commit is due.
    pub fn is_due(&self) -> bool {
        self.pending_bytes() >= self.limits.bytes || self.collected.size() >= self.limits.size
    }

    /// Pushes bytes of the source; some may be [held](Self::go_on) until after the next commit.
    pub fn push<E>(&mut self, bytes: &[u8])
    where
        R: Reads<D, S, E>,
        M: Emitter<E, C::Item>,
    {
        let Self { processor, collected, limits, .. } = self;
        processor.push_by(bytes, &mut collecting::<_, E>(collected, limits.size));
    }

    /// Reduces the data that was held when the output reached its limit, until it does again: at least one record.
    pub fn go_on<E>(&mut self)
    where
        R: Reads<D, S, E>,
        M: Emitter<E, C::Item>,
    {
        let Self { processor, collected, limits, .. } = self;
        processor.reduce_held(&mut collecting::<_, E>(collected, limits.size));
    }

    /// Ends the last line: see [`Processor::end_line`].
    pub fn end_line<E>(&mut self)
    where
        R: Reads<D, S, E>,
        M: Emitter<E, C::Item>,
    {
        let Self { processor, collected, limits, .. } = self;
        processor.reduce_last_line(&mut collecting::<_, E>(collected, limits.size));
    }

    /// The source pauses: see [`Processor::flush_last_line`].
    pub fn flush_last_line<E>(&mut self) -> LastLine
    where
        R: Reads<D, S, E>,
        M: Emitter<E, C::Item>,
    {
        let Self { processor, collected, limits, .. } = self;
        processor.end_whole_line(&mut collecting::<_, E>(collected, limits.size))
    }

    /// Continues the source at the beginning of another file: see [`Processor::next_file`].
    pub fn next_file<E>(&mut self)
    where
        R: Reads<D, S, E>,
        M: Emitter<E, C::Item>,
    {
        let Self { processor, collected, limits, .. } = self;
        processor.end_file(&mut collecting::<_, E>(collected, limits.size));
        self.begun = 0;
    }

    /// The commit of everything since the last commit. `identity` identifies the source up to the processor's [next
    /// record](Processor::next_record).
    ///
    /// # Errors
    /// The state's `Serialize` fails; the states of this crate never do.
    ///
    /// # Panics
    /// If the reducer panicked in an earlier step; see [`Transducer`](crate::transduce::Transducer).
    pub fn commit(&mut self, identity: Identity) -> Result<Commit<C>, foldline_json::Error>
    where
        S: Serialize,
        M: Resume<State: Serialize>,
    {
        let state = self.processor.snapshot().to_json()?;
        let position = self.processor.next_record();
        let facts = SourceFacts { identity, ..self.facts.clone() };
        let checkpoint = Checkpoint { facts, position, state, complete: false };
        self.begun = position.offset;
        let expected = self.expected.replace(position);
        Ok(Commit { source: self.name.clone(), expected, checkpoint, output: self.take() })
    }

    /// Completes the source: finishes the reducer and the emitters, and commits the rest, regardless of its length;
    /// [end the line](Self::end_line) first, and commit while a commit is due. `identity` is called once the end of
    /// the source is known.
    ///
    /// # Errors
    /// As for [`commit`](Self::commit).
    pub fn finish<E>(
        self,
        identity: impl FnOnce(Position) -> Identity,
    ) -> Result<LastSegment<S, M, C>, foldline_json::Error>
    where
        R: Reads<D, S, E>,
        S: Serialize,
        M: Emitter<E, C::Item> + Resume<State: Serialize>,
    {
        let Self { processor, name: source, facts, expected, collected: mut output, .. } = self;
        let finished = processor.finish(|last| output.add(last));
        let state = finished.snapshot().to_json()?;
        let position = finished.framer.position;
        let facts = SourceFacts { identity: identity(position), ..facts };
        let checkpoint = Checkpoint { facts, position, state, complete: true };
        Ok((Commit { source, expected, checkpoint, output }, finished))
    }
}
