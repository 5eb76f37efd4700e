//! [`Segments`]: reads one source in segments, each of which becomes a commit.

use serde::Serialize;

use super::{Decode, Finished, Reads, Records};
use crate::{
    json,
    ledger::{Checkpoint, Commit, Identity, SourceFacts, SourceName},
    position::Position,
    processor::{LastLine, Processor},
    transduce::{Emitter, Gather, Resume},
};

/// When a segment is due to be committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLimits {
    /// After this many bytes of the source.
    pub bytes: u64,
    /// After this many bytes of collected output, as [`Gather::size`] counts them.
    pub size: usize,
}

impl Default for SegmentLimits {
    /// A mebibyte of the source, or eight of outputs.
    fn default() -> Self {
        Self { bytes: 1 << 20, size: 8 << 20 }
    }
}

/// The last segment of a complete source, and the remaining outputs.
pub type LastSegment<S, M> = (Commit<<M as Gather>::Segment>, Finished<S, M>);

/// Reads one source, and splits its output into the segments that a
/// [`Ledger`](crate::ledger::Ledger) commits.
///
/// Each commit begins where the one before ended, and holds the state of the whole pipeline there:
/// a run that loads it continues as if there had been no interruption.
#[derive(Debug)]
pub struct Segments<R, S, M, D: Decode = Records> {
    processor: Processor<R, S, M, D>,
    name: SourceName,
    facts: SourceFacts,
    /// The position of the last commit; `None` before the first.
    expected: Option<Position>,
    /// Where the uncommitted segment begins.
    begun: u64,
    limits: SegmentLimits,
}

impl<R, S, M: Gather, D: Decode> Segments<R, S, M, D> {
    /// A source that the ledger knows up to `expected`, which is the processor's
    /// [next record](Processor::next_record); `None` if it does not know it.
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

    /// The same source, with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: SegmentLimits) -> Self {
        self.limits = limits;
        self.processor = self.processor.pausing_at(limits.size);
        self
    }
}

impl<R, S, M, D: Decode> Segments<R, S, M, D> {
    /// The processor within.
    pub fn processor(&self) -> &Processor<R, S, M, D> {
        &self.processor
    }

    /// The processor within.
    pub fn processor_mut(&mut self) -> &mut Processor<R, S, M, D> {
        &mut self.processor
    }

    /// Returns the processor; what was read since the last commit is not committed.
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

    /// Adds bytes of the source, of which some may be [kept](Self::go_on) until after the next commit.
    pub fn push<E, Out>(&mut self, bytes: &[u8], each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.processor.push(bytes, each);
    }

    /// Goes on with what was pushed, after a commit: see [`Processor::go_on`].
    pub fn go_on<E, Out>(&mut self, each: impl FnMut(Out))
    where
        R: Reads<D, S, E>,
        M: Emitter<E, Out>,
    {
        self.processor.go_on(each);
    }

    /// The last line is over: see [`Processor::end_line`].
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

    /// The source goes on at the beginning of another file: see [`Processor::next_file`].
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
    /// Whether the segment is long enough to be committed. What was pushed is reduced only up to there, also
    /// where that is within a line: commit, and [go on](Self::go_on), until it is no longer due.
    pub fn is_due(&self) -> bool {
        self.pending_bytes() >= self.limits.bytes
            || self.processor.transducer().emitter().size() >= self.limits.size
    }

    /// The commit of everything since the last one. `identity` identifies the source up to the processor's
    /// [next record](Processor::next_record).
    ///
    /// # Errors
    /// The state's `Serialize` fails; that of this crate's types never does.
    ///
    /// # Panics
    /// If the reducer panicked in an earlier step, see [`Transducer`](crate::transduce::Transducer).
    pub fn commit(&mut self, identity: Identity) -> Result<Commit<M::Segment>, json::Error> {
        let state = self.processor.snapshot().to_json()?;
        let output = self.processor.cut();
        let position = self.processor.next_record();
        let facts = SourceFacts { identity, ..self.facts.clone() };
        let checkpoint = Checkpoint { facts, position, state, complete: false };
        self.begun = position.offset;
        let expected = self.expected.replace(position);
        Ok(Commit { source: self.name.clone(), expected, checkpoint, output })
    }

    /// The source is complete: finishes the reducer and the emitters, and commits the rest, however long it
    /// is; [end the line](Self::end_line) first, and commit while it is due. `identity` is called once the end
    /// of the source is known.
    ///
    /// # Errors
    /// As for [`commit`](Self::commit).
    pub fn finish<E, Out>(
        self,
        identity: impl FnOnce(Position) -> Identity,
        each: impl FnMut(Out),
    ) -> Result<LastSegment<S, M>, json::Error>
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
