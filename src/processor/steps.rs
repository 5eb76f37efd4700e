//! [`Steps`]: a line through the transducer, record by record.

use std::{collections::VecDeque, mem, sync::Arc};

use tracing::debug;

use super::{
    line::{FramerState, Line},
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
    fn new(line: Line<'b>, begin: FramerState, hashes_lines: bool) -> Self {
        let digest = (hashes_lines && !line.bytes.is_empty()).then(|| Arc::new(line.digest()));
        let Line { lines, next, .. } = line;
        Self { records: LineRecords::new(line), begin, next, lines, digest }
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
    pub(super) fn held<Out>(&mut self, each: &mut impl FnMut(Out))
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        while let Some(line) = self.held.pop_front() {
            if let Some(rest) = self.line(line, each) {
                self.held.push_front(rest);
                break;
            }
        }
    }

    /// Reduces the next line, or keeps it if lines are kept already.
    pub(super) fn take<Out>(&mut self, line: Line<'_>, each: &mut impl FnMut(Out))
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
    {
        let begin = mem::replace(&mut self.begin, line.next);
        if self.done.is_some() {
            return;
        }
        let line = OpenLine::new(line, begin, self.hashes_lines);
        let rest = if self.held.is_empty() { self.line(line, each) } else { Some(line) };
        self.held.extend(rest.map(OpenLine::into_owned));
    }

    /// Reduces a line, or as much of it as the limit allows; then returns the rest.
    fn line<'b, Out>(
        &mut self,
        mut line: OpenLine<'b>,
        each: &mut impl FnMut(Out),
    ) -> Option<OpenLine<'b>>
    where
        R: for<'a> Reducer<Located<Record<'a>>, S, Located<DomainEvent>>,
        M: Emitter<Located<DomainEvent>, Out>,
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
            self.transducer.step_with(record.with_line_sha256(line.digest.clone()), &mut *each);
        }
        self.counts.lines += line.lines;
        self.counts.blank += u64::from(line.records.is_blank());
        if self.transducer.is_done::<Located<Record<'_>>, Located<DomainEvent>>() {
            *self.done = Some(line.next);
        }
        None
    }
}
