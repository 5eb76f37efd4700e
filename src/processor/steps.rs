//! [`Steps`]: a line through the transducer, record by record.

use std::{collections::VecDeque, mem, sync::Arc};

use tracing::debug;

use super::{
    line::{FramerState, Line, shift},
    records::LineRecords,
    snapshot::{Counts, Within},
};
use crate::{
    conversation::{Digest, DomainEvent, Located, Position},
    transduce::{Emitter, Reducer, Transducer},
    wire::Record,
};

/// A line whose records are being reduced.
#[derive(Debug)]
pub(super) struct OpenLine<'b> {
    records: LineRecords<'b>,
    /// From where it is read again.
    pub(super) begin: FramerState,
    next: FramerState,
    lines: u64,
    digest: Option<Arc<Digest>>,
}

impl<'b> OpenLine<'b> {
    pub(super) fn new(line: Line<'b>, begin: FramerState, hashes_lines: bool) -> Self {
        let digest = (hashes_lines && !line.bytes.is_empty()).then(|| Arc::new(line.digest()));
        let Line { lines, next, .. } = line;
        Self { records: LineRecords::new(line), begin, next, lines, digest }
    }

    /// The record that is the whole line, if it is an object.
    pub(super) fn object(&self) -> Option<Located<Record<'b>>> {
        let record = self.records.object()?;
        Some(record.with_line_sha256(self.digest.clone()))
    }

    /// The line stands behind `before`.
    pub(super) fn shift(&mut self, before: Position) {
        self.records.shift(before);
        shift(&mut self.begin.position, before);
        shift(&mut self.next.position, before);
    }

    /// The state from which to continue after it.
    pub(super) fn next(&self) -> FramerState {
        self.next
    }

    /// How far it was reduced; `None` if it was not.
    pub(super) fn within(&self) -> Option<Within> {
        let records = self.records.read();
        self.records.pause().filter(|_| records > 0).map(|next| Within { records, next })
    }

    fn into_owned(self) -> OpenLine<'static> {
        let Self { records, begin, next, lines, digest } = self;
        OpenLine { records: records.into_owned(), begin, next, lines, digest }
    }
}

/// How much an emitter has collected, and from how much on the processor pauses.
pub(super) type Limit<M> = (fn(&M) -> usize, usize);

/// What is done with each record.
pub(super) trait Step<R, S, M>:
    FnMut(&mut Transducer<R, S, M>, Located<Record<'_>>)
{
}

impl<R, S, M, F: FnMut(&mut Transducer<R, S, M>, Located<Record<'_>>)> Step<R, S, M> for F {}

/// Reduces it, emits its events, and calls `each` with every output.
pub(super) fn emitting<R, S, M, Out>(each: &mut impl FnMut(Out)) -> impl Step<R, S, M>
where
    R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    M: Emitter<Located<DomainEvent>, Out>,
{
    move |transducer: &mut Transducer<R, S, M>, record: Located<Record<'_>>| {
        transducer.step_with(record, &mut *each);
    }
}

/// Reduces it, and calls `each` with every event: the emitter is elsewhere.
pub(super) fn reducing<R, S, M>(mut each: impl FnMut(Located<DomainEvent>)) -> impl Step<R, S, M>
where
    R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
{
    move |transducer: &mut Transducer<R, S, M>, record: Located<Record<'_>>| {
        let events = transducer.reduce(|reducer, state| reducer.reduce(state, record));
        events.drain_with(&mut each);
    }
}

/// The parts of a processor that lines are reduced with.
pub(super) struct Steps<'p, R, S, M> {
    pub(super) transducer: &'p mut Transducer<R, S, M>,
    pub(super) counts: &'p mut Counts,
    pub(super) hashes_lines: bool,
    pub(super) done: &'p mut Option<FramerState>,
    pub(super) limit: Option<Limit<M>>,
    /// The lines that are kept because the limit was reached.
    pub(super) held: &'p mut VecDeque<OpenLine<'static>>,
    /// The next line was reduced up to there an earlier time.
    pub(super) within: &'p mut Option<Within>,
    /// From where the next line is read again.
    pub(super) begin: FramerState,
    /// Whether a record was reduced: one is, whatever the limit.
    pub(super) has_moved: bool,
}

impl<R, S, M> Steps<'_, R, S, M> {
    /// Whether further lines are reduced.
    pub(super) fn may_go_on(&self) -> bool {
        self.done.is_none() && self.held.is_empty() && !self.is_full()
    }

    fn is_full(&self) -> bool {
        self.has_moved
            && self.limit.is_some_and(|(size, limit)| size(self.transducer.emitter()) >= limit)
    }

    /// Reduces the lines that were kept.
    pub(super) fn held(&mut self, step: &mut impl Step<R, S, M>)
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    {
        while let Some(line) = self.held.pop_front() {
            if let Some(rest) = self.line(line, step) {
                self.held.push_front(rest);
                break;
            }
        }
    }

    /// Reduces the next line, or keeps it if lines are kept already.
    pub(super) fn take(&mut self, line: Line<'_>, step: &mut impl Step<R, S, M>)
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    {
        let begin = mem::replace(&mut self.begin, line.next);
        if self.done.is_none() {
            self.take_open(OpenLine::new(line, begin, self.hashes_lines), step);
        }
    }

    /// The same for a line that was opened before its turn.
    pub(super) fn take_open(&mut self, line: OpenLine<'_>, step: &mut impl Step<R, S, M>)
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    {
        if self.done.is_some() {
            return;
        }
        let rest = if self.held.is_empty() { self.line(line, step) } else { Some(line) };
        self.held.extend(rest.map(OpenLine::into_owned));
    }

    /// A line that is one object was reduced.
    pub(super) fn was_reduced(&mut self, next: FramerState)
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    {
        self.begin = next;
        self.counts.lines += 1;
        self.counts.records += 1;
        if self.transducer.is_done::<Located<Record<'_>>, Located<DomainEvent>>() {
            *self.done = Some(next);
        }
    }

    /// Reduces a line, or as much of it as the limit allows; then returns the rest.
    fn line<'b>(
        &mut self,
        mut line: OpenLine<'b>,
        step: &mut impl Step<R, S, M>,
    ) -> Option<OpenLine<'b>>
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
    {
        if self.done.is_some() {
            return None;
        }
        if let Some(Within { records, .. }) = self.within.take() {
            line.records.skip(records);
        }
        loop {
            if self.is_full() && line.records.pause().is_some() {
                return Some(line);
            }
            let Some(record) = line.records.next() else { break };
            if let Record::Irregular(irregular) = &record.item {
                let Position { line, offset } = record.position;
                debug!(line, offset, %irregular, "not a record");
            }
            self.counts.records += 1;
            self.has_moved = true;
            step(self.transducer, record.with_line_sha256(line.digest.clone()));
        }
        self.counts.lines += line.lines;
        self.counts.blank += u64::from(line.records.is_blank());
        if self.transducer.is_done::<Located<Record<'_>>, Located<DomainEvent>>() {
            *self.done = Some(line.next);
        }
        None
    }
}
