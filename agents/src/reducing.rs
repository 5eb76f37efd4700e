//! [`ExecutorReducer`]: the reducer that all executors share.

use std::{borrow::Cow, fmt};

use foldline::{
    processor::HeapSize,
    transduce::{Batch, Reducer},
};
use foldline_domain::{
    DomainEvent, SessionId, Text, ToolCalls, WarningKind,
    tool_calls::{CallResult, Limits},
};
use serde::{Deserialize, Serialize};
use tracing::debug;

use super::{
    aside,
    context::Context,
    executor::{Executor, Header, Parsed},
    report,
    sessions::SessionKeyOf,
    wire::{Fields, Irregular, Record},
};
use crate::context::Facts;

/// The state of a session: its open calls, its facts and the executor's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionState<R, M> {
    calls: ToolCalls<R>,
    facts: Facts,
    memory: M,
}

/// The state of a session of an executor.
pub type State<E> = SessionState<<E as Executor>::Result, <E as Executor>::Memory>;

impl<R, M: Default> Default for SessionState<R, M> {
    fn default() -> Self {
        Self { calls: ToolCalls::default(), facts: Facts::default(), memory: M::default() }
    }
}

impl<R, M> SessionState<R, M> {
    /// The calls without a result and the results without a call.
    pub fn calls(&self) -> &ToolCalls<R> {
        &self.calls
    }
}

impl<R: CallResult, M> HeapSize for SessionState<R, M> {
    fn heap_size(&self) -> usize {
        self.calls.bytes() + self.facts.known().size()
    }
}

/// Reduces the records of one format by its executor.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExecutorReducer<E> {
    pub(super) executor: E,
    limits: Limits,
}

impl<E> ExecutorReducer<E> {
    /// The reducer of this executor.
    pub const fn new(executor: E) -> Self {
        Self { executor, limits: Limits::DEFAULT }
    }

    /// Sets the limits of the state.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// A record parsed by its executor, independent of the state.
pub(super) enum ParsedRecord<'a, L> {
    Irregular(Irregular<'a>),
    Object {
        /// The fields that were not taken.
        rest: Fields<'a>,
        header: Header<'a>,
        /// Its text, if it is a line of standard error.
        aside: Option<Text>,
        /// The session in the record.
        session: Option<Cow<'a, str>>,
        parsed: Parsed<L>,
    },
}

impl<'a, L> ParsedRecord<'a, L> {
    /// The session in the record.
    pub(super) fn session(&self) -> Option<&Cow<'a, str>> {
        match self {
            Self::Irregular(_) => None,
            Self::Object { session, .. } => session.as_ref(),
        }
    }
}

impl<E: Executor> ExecutorReducer<E> {
    /// The first half of reducing a record, which does not depend on the state.
    pub(super) fn parsed<'a>(&self, record: Record<'a>) -> ParsedRecord<'a, E::Line<'a>> {
        let mut object = match record {
            Record::Object(object) => object,
            Record::Irregular(irregular) => return ParsedRecord::Irregular(irregular),
        };
        let mut header = Header {
            name: object.get_str("type").unwrap_or_default(),
            at: object.timestamp("timestamp"),
            ..Header::default()
        };
        let aside = (header.name == aside::STDERR).then(|| aside::text(&mut object));
        let session = self.executor.session(&object);
        let parsed = match aside {
            Some(_) => Parsed::Ignored,
            None => self.executor.parse(&mut object, &mut header),
        };
        if let Parsed::Line(_) | Parsed::Ignored = parsed {
            object.ignore(&["type"]);
        }
        ParsedRecord::Object { rest: object.rest(), header, aside, session, parsed }
    }

    /// The type of a record that is ignored on purpose.
    pub(super) fn ignored<'p, 'a>(
        &self,
        record: &'p ParsedRecord<'a, E::Line<'a>>,
    ) -> Option<&'p Cow<'a, str>> {
        let ParsedRecord::Object { header, aside: None, parsed, .. } = record else { return None };
        let is_ignored = match parsed {
            Parsed::Line(line) => self.executor.is_ignored(line),
            Parsed::Ignored => true,
            Parsed::Foreign | Parsed::Unknown => false,
        };
        is_ignored.then_some(&header.name)
    }

    /// The second half of reducing a record.
    pub(super) fn reduce_parsed(
        &self,
        state: &mut State<E>,
        record: ParsedRecord<'_, E::Line<'_>>,
    ) -> Batch<DomainEvent> {
        let mut events = Batch::EMPTY;
        let before = state.calls.open_calls();
        if let ParsedRecord::Irregular(irregular) = &record {
            report::irregular(irregular, &mut events);
            log("irregular", before, &state.calls, &events);
        }
        // Not as a tuple, which would be moved once more.
        let ParsedRecord::Object { rest, header, aside, session, parsed } = record else {
            return events;
        };
        let session = session.filter(|_| aside.is_none() && !matches!(parsed, Parsed::Foreign));
        let Header { name, at, parent } = header;
        let SessionState { calls, facts, memory } = state;
        let left = session.as_deref().is_some_and(|session| {
            facts.known().session_id.as_ref().map(SessionId::as_str).is_some_and(|id| id != session)
        });
        let mut cx = self.context(calls, facts, &mut events);
        (cx.at, cx.parent) = (at, parent);
        if left {
            self.executor.end(memory, &mut cx);
        }
        if let Some(session) = &session {
            cx.enter(session);
        }
        match parsed {
            Parsed::Line(line) => {
                let extra = cx.unknown_fields(&name, &rest);
                self.executor.line(line, extra, memory, &mut cx);
                cx.introduce();
            }
            Parsed::Ignored => {
                let extra = cx.unknown_fields(&name, &rest);
                match aside {
                    Some(text) => aside::say(text, extra, &mut cx),
                    None => cx.introduce(),
                }
            }
            _ if name.is_empty() => report::untyped(&rest, at, cx.events),
            Parsed::Foreign => {
                report::unread_record(WarningKind::ForeignRecord, &name, &rest, at, cx.events);
            }
            Parsed::Unknown => cx.unknown_event(&name, &rest),
        }
        log(&name, before, &state.calls, &events);
        events
    }

    /// Ends the log.
    pub(super) fn finish_state(&self, state: &mut State<E>) -> Batch<DomainEvent> {
        let mut events = Batch::EMPTY;
        let before = state.calls.open_calls();
        let SessionState { calls, facts, memory } = state;
        self.executor.end(memory, &mut self.context(calls, facts, &mut events));
        state.calls.finish(&mut events);
        log("completion", before, &state.calls, &events);
        events
    }

    fn context<'s>(
        &'s self,
        calls: &'s mut ToolCalls<E::Result>,
        facts: &'s mut Facts,
        events: &'s mut Batch<DomainEvent>,
    ) -> Context<'s, E::Result> {
        let (agent, limits) = (E::FORMAT.agent, &self.limits);
        Context { at: None, parent: None, agent, limits, calls, facts, events }
    }
}

impl<'a, E: Executor> SessionKeyOf<Record<'a>> for ExecutorReducer<E> {
    fn session_of<'r>(&self, record: &'r Record<'a>) -> Option<Cow<'r, str>> {
        record.object().and_then(|object| self.executor.session(object))
    }
}

impl<'a, E: Executor> Reducer<Record<'a>, Box<State<E>>, DomainEvent> for ExecutorReducer<E> {
    fn init(&self) -> Box<State<E>> {
        Box::default()
    }

    fn reduce(
        &self,
        mut state: Box<State<E>>,
        record: Record<'a>,
    ) -> (Box<State<E>>, Batch<DomainEvent>) {
        let record = self.parsed(record);
        let events = self.reduce_parsed(&mut state, record);
        (state, events)
    }

    fn finish(&self, mut state: Box<State<E>>) -> (Box<State<E>>, Batch<DomainEvent>) {
        let events = self.finish_state(&mut state);
        (state, events)
    }
}

/// Logs the outcome of a record, whose name may contain any text. Costs one comparison without a subscriber.
#[inline]
fn log<R>(record: &str, open_before: usize, calls: &ToolCalls<R>, events: &Batch<DomainEvent>) {
    let (open, held) = (calls.open_calls(), calls.held_results());
    log_counts(record, open_before, open, held, events.as_slice());
}

#[inline]
fn log_counts(record: &str, open_before: usize, open: usize, held: usize, events: &[DomainEvent]) {
    debug!(
        record = ?record,
        events = ?EventNames(events),
        open,
        added = added(events),
        removed = (open_before + added(events)).saturating_sub(open),
        held,
        "record reduced"
    );
}

fn added(events: &[DomainEvent]) -> usize {
    events.iter().filter(|event| matches!(event, DomainEvent::NewToolCall { .. })).count()
}

/// The types of events, as a list.
struct EventNames<'e>(&'e [DomainEvent]);

impl fmt::Debug for EventNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(DomainEvent::name)).finish()
    }
}
