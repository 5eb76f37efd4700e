//! [`Segments`]: reads one source in segments, which become commits.

use serde::Serialize;

use super::{Decode, Finished, Reads};
use crate::{
    ledger::{Checkpoint, Commit, Identity, SourceFacts, SourceName},
    position::Position,
    processor::{LastLine, Processor},
    transduce::{Emitter, Gather, Resume},
};

/// Limits at which a segment is due for commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLimits {
    /// Bytes of the source.
    pub bytes: u64,
    /// Bytes of collected output, as measured by [`Gather::size`].
    pub size: usize,
}

impl Default for SegmentLimits {
    /// One mebibyte of the source, or eight mebibytes of output.
    fn default() -> Self {
        Self { bytes: 1 << 20, size: 8 << 20 }
    }
}

/// The last segment of a complete source, and the finished processor.
pub type LastSegment<S, M> = (Commit<<M as Gather>::Segment>, Finished<S, M>);

/// Reads one source, and splits its output into the segments that a
/// [`Ledger`](crate::ledger::Ledger) commits.
///
/// Each commit begins where the previous one ended, and contains the state of the whole pipeline at its end: a run
/// that loads it continues as if it had not been interrupted.
///
/// A segment that is full [is due](Self::is_due), and holds the rest of what was pushed. After each push, commit and
/// [go on](Self::go_on) until it is due no longer; otherwise the rest is not read:
///
/// ```text
/// segments.push(bytes, each);
/// loop {
///     let is_due = segments.is_due();
///     ledger.commit(&[segments.commit(identity)?], &[])?;
///     if !is_due { break }
///     segments.go_on(each);
/// }
/// ```
///
/// The example `access_log` is a whole run.
#[derive(Debug)]
pub struct Segments<R, S, M, D: Decode> {
    processor: Processor<R, S, M, D>,
    name: SourceName,
    facts: SourceFacts,
    /// The position of the last commit; `None` before the first.
    expected: Option<Position>,
    /// The start of the uncommitted segment.
    begun: u64,
    limits: SegmentLimits,
}

impl<R, S, M: Gather, D: Decode> Segments<R, S, M, D> {
    /// Reads a source that the ledger has stored up to `expected`, which is the processor's [next
    /// record](Processor::next_record); `None` for a source that is not in the ledger.
    pub fn new(
        name: SourceName,
        facts: SourceFacts,
        expected: Option<Position>,
        processor: Processor<R, S, M, D>,
    ) -> Self {
        let (begun, limits) = (processor.next_record().offset, SegmentLimits::default());
        let processor = processor.pausing_at(limits.size);
        Self { processor, name, facts, expected, begun, limits }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: SegmentLimits) -> Self {
        self.limits = limits;
        self.processor = self.processor.pausing_at(limits.size);
        self
    }
}

impl<R, S, M, D: Decode> Segments<R, S, M, D> {
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

    /// The number of bytes of the source since the last commit.
    pub fn pending_bytes(&self) -> u64 {
        self.processor.next_record().offset.saturating_sub(self.begun)
    }

    /// Whether anything was read since the last commit.
    pub fn has_news(&self) -> bool {
        self.expected != Some(self.processor.next_record())
    }

    /// Pushes bytes of the source; some may be [held](Self::go_on) until after the next commit.
    pub fn push<E, Out>(&mut self, bytes: &[u8], each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.processor.push(bytes, each);
    }

    /// Continues with held bytes after a commit: see [`Processor::go_on`].
    pub fn go_on<E, Out>(&mut self, each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.processor.go_on(each);
    }

    /// Ends the last line: see [`Processor::end_line`].
    pub fn end_line<E, Out>(&mut self, each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.processor.end_line(each);
    }

    /// The source pauses: see [`Processor::flush_last_line`].
    pub fn flush_last_line<E, Out>(&mut self, each: impl FnMut(Out)) -> LastLine
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.processor.flush_last_line(each)
    }

    /// Continues the source at the beginning of another file: see [`Processor::next_file`].
    pub fn next_file<E, Out>(&mut self, each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.processor.next_file(each);
        self.begun = 0;
    }
}

impl<R, S, M, D: Decode> Segments<R, S, M, D>
where
    S: Serialize,
    M: Resume + Gather,
    M::State: Serialize,
{
    /// Whether the segment is long enough to be committed. Pushed data is reduced only up to this point, even within
    /// a line: commit, and [continue](Self::go_on), until no commit is due.
    pub fn is_due(&self) -> bool {
        self.pending_bytes() >= self.limits.bytes
            || self.processor.transducer().emitter().size() >= self.limits.size
    }

    /// The commit of everything since the last commit. `identity` identifies the source up to the processor's [next
    /// record](Processor::next_record).
    ///
    /// # Errors
    /// The state's `Serialize` fails; the states of this crate never do.
    ///
    /// # Panics
    /// If the reducer panicked in an earlier step; see [`Transducer`](crate::transduce::Transducer).
    pub fn commit(
        &mut self,
        identity: Identity,
    ) -> Result<Commit<M::Segment>, foldline_json::Error> {
        let state = self.processor.snapshot().to_json()?;
        let output = self.processor.cut();
        let position = self.processor.next_record();
        let facts = SourceFacts { identity, ..self.facts.clone() };
        let checkpoint = Checkpoint { facts, position, state, complete: false };
        self.begun = position.offset;
        let expected = self.expected.replace(position);
        Ok(Commit { source: self.name.clone(), expected, checkpoint, output })
    }

    /// Completes the source: finishes the reducer and the emitters, and commits the rest, regardless of its length;
    /// [end the line](Self::end_line) first, and commit while a commit is due. `identity` is called once the end of
    /// the source is known.
    ///
    /// # Errors
    /// As for [`commit`](Self::commit).
    pub fn finish<E, Out>(
        self,
        identity: impl FnOnce(Position) -> Identity,
        each: impl FnMut(Out),
    ) -> Result<LastSegment<S, M>, foldline_json::Error>
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        let Self { processor, name: source, facts, expected, .. } = self;
        let mut finished = processor.finish(each);
        let state = finished.snapshot().to_json()?;
        let output = finished.emitter.cut();
        let position = finished.framer.position;
        let facts = SourceFacts { identity: identity(position), ..facts };
        let checkpoint = Checkpoint { facts, position, state, complete: true };
        Ok((Commit { source, expected, checkpoint, output }, finished))
    }
}
