//! [`Sessions`]: the sessions of a log, each with a separate state; [`SessionKeyOf`]: the session of a record.

mod open;

use std::borrow::Cow;

use foldline::{
    processor::{HeapSize, ParseAhead},
    transduce::{Batch, Reducer},
};
use foldline_domain::{DomainEvent, Located, Locating, locating};
use serde::{Deserialize, Serialize};

use self::open::{Next, OpenSession};
use crate::{records::Records, wire::Record};

/// Separates the sessions of a log: numbers them, stamps every event with the number of its session
/// ([`Located::session`]), and reports the end of each session ([`DomainEvent::SessionEnded`]).
///
/// "Session" has two meanings in logs, and only this type handles both:
///
/// - A *stream* interleaves sessions. Each has its own reducer state, so that neither calls nor facts mix. A record
///   without a session name ([`Executor::session`](super::Executor::session)) belongs to the session of the previous
///   record. Records before the first name belong to the first named session.
/// - A *file* continues under another id, because the session was resumed, forked or cleared. It has several sessions
///   but one state, whose facts remain valid. An update belongs to the session of the entry that it updates.
///
/// The number of open sessions ([`MAX_SESSIONS`]) and their size ([`MAX_SESSIONS_SIZE`]) are bounded, so that memory
/// does not grow with the length of a stream. A session that appears again after its end has a new number.
///
/// ```
/// use foldline::{processor::Processor, transduce::{KeyedEmitter, Transducer}};
/// use foldline_agents::{DynExecutor, Records, Sessions, droid::Droid};
/// use foldline_domain::{DomainEvent, Located, by_item, patch::PatchEmitter};
///
/// // An emitter for each session: neither the ids nor the indices of two sessions mix.
/// let patches = KeyedEmitter::new(
///     |event: &Located<DomainEvent>| event.session,
///     |_| by_item(PatchEmitter::default()),
/// );
/// let reducer = Sessions::new(DynExecutor::new(Droid));
/// let mut processor = Processor::new(Records, Transducer::new(reducer, patches));
/// let mut keys = Vec::new();
/// for session in ["a", "b", "a"] {
///     let line = format!(
///         r#"{{"type":"message","role":"user","id":"1","text":"hi","session_id":"{session}"}}"#
///     );
///     processor.push(format!("{line}\n").as_bytes(), |(key, _patch)| keys.push(key.0));
/// }
/// keys.dedup();
/// assert_eq!(keys, [0, 1, 0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sessions<R> {
    reducer: Locating<R>,
}

impl<R> Sessions<R> {
    /// Sessions of a log whose records `reducer` reduces. It also finds the names of sessions in records
    /// ([`SessionKeyOf`]).
    pub fn new(reducer: R) -> Self {
        Self { reducer: locating(reducer) }
    }

    /// The inner reducer.
    pub const fn get_ref(&self) -> &R {
        self.reducer.get_ref()
    }
}

impl<R: ParseAhead<Records>> ParseAhead<Records> for Sessions<R> {
    type Parsed<'a> = R::Parsed<'a>;

    fn parse_ahead<'a>(&'a self, record: Record<'a>) -> Self::Parsed<'a> {
        self.get_ref().parse_ahead(record)
    }
}

/// The states of the open sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionsState<S> {
    /// The number of the next session.
    next: Next,
    /// The open sessions, the least recently active first. The last is the session of the previous record.
    open: Vec<OpenSession<S>>,
    /// Cached, so that the cost of a record does not depend on the number of open sessions.
    #[serde(skip)]
    size: Total,
}

/// The size of the open sessions, computed lazily from the rest of the state.
#[derive(Clone, Copy, Debug, Default)]
struct Total(Option<Held>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Held {
    /// The size of all open sessions.
    all: usize,
    /// The size of the last session.
    last: usize,
}

impl PartialEq for Total {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<S> SessionsState<S> {
    /// Converts the inner states.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn try_map<T, E>(
        self,
        mut make: impl FnMut(S) -> Result<T, E>,
    ) -> Result<SessionsState<T>, E> {
        let Self { next, open, size: _ } = self;
        let open = open.into_iter().map(|session| session.try_map(&mut make));
        Ok(SessionsState { next, open: open.collect::<Result<_, E>>()?, size: Total(None) })
    }

    /// The open sessions by their names in a stream, with their states.
    pub fn open(&self) -> impl Iterator<Item = (Option<&str>, &S)> {
        self.open.iter().map(|open| (open.name.as_deref(), &open.state.state))
    }
}

impl<R> Sessions<R> {
    /// Finishes a state and its sessions.
    fn end<In, S>(
        &self,
        session: OpenSession<S>,
        next: &mut Next,
    ) -> (OpenSession<S>, Batch<Located<DomainEvent>>)
    where
        R: Reducer<In, S, DomainEvent>,
    {
        let (mut session, events) =
            session.map(|state| Reducer::<Located<In>, _, _>::finish(&self.reducer, state));
        let mut events = session.stamp(events, next);
        events.extend(session.ends());
        (session, events)
    }
}

impl<In, R, S> Reducer<Located<In>, SessionsState<S>, Located<DomainEvent>> for Sessions<R>
where
    R: Reducer<In, S, DomainEvent> + SessionKeyOf<In>,
    S: HeapSize,
{
    fn init(&self) -> SessionsState<S> {
        SessionsState { next: 0, open: Vec::new(), size: Total::default() }
    }

    fn reduce(
        &self,
        mut state: SessionsState<S>,
        record: Located<In>,
    ) -> (SessionsState<S>, Batch<Located<DomainEvent>>) {
        let SessionsState { next, open, size: total } = &mut state;
        let named = self.get_ref().session_of(&record.item);
        let at = match &named {
            None => open.len().checked_sub(1),
            Some(name) => open
                .iter()
                .rposition(|open| open.name.as_deref() == Some(name))
                .or_else(|| open.iter().position(|open| open.name.is_none())),
        };
        let sum = || open.iter().map(|open| open.state.state.heap_size()).sum();
        let mut size = total.0.map_or_else(sum, |held| held.all);
        let mut session = match at {
            Some(at) => {
                let last = total.0.map(|held| held.last).filter(|_| at + 1 == open.len());
                size =
                    size.saturating_sub(last.unwrap_or_else(|| open[at].state.state.heap_size()));
                open.remove(at)
            }
            None => OpenSession::new(self.reducer.init(), next),
        };
        if session.name.is_none() {
            session.name = named.map(Cow::into_owned);
        }
        let (mut session, events) = session.map(|state| self.reducer.reduce(state, record));
        let events = session.stamp(events, next);
        let last = session.state.state.heap_size();
        size += last;
        let mut silent = 0;
        while let Some(session) = open.get(silent)
            && (open.len() - silent >= MAX_SESSIONS || size > MAX_SESSIONS_SIZE)
        {
            size = size.saturating_sub(session.state.state.heap_size());
            silent += 1;
        }
        *total = Total(Some(Held { all: size, last }));
        let mut all = Batch::EMPTY;
        for session in open.drain(..silent) {
            all.append(self.end(session, next).1);
        }
        all.append(events);
        open.push(session);
        (state, all)
    }

    fn finish(&self, state: SessionsState<S>) -> (SessionsState<S>, Batch<Located<DomainEvent>>) {
        let SessionsState { mut next, open, size: _ } = state;
        let mut all = Batch::EMPTY;
        let open = open.into_iter().map(|session| {
            let (session, events) = self.end(session, &mut next);
            all.append(events);
            session
        });
        let open = open.collect();
        (SessionsState { next, open, size: Total(None) }, all)
    }

    fn is_done(&self, state: &SessionsState<S>) -> bool {
        let mut open = state.open.iter().peekable();
        open.peek().is_some() && open.all(|open| self.get_ref().is_done(&open.state.state))
    }
}

/// Finds the session name in a record. This is a trait because Rust infers no closure that borrows from the text of a
/// record behind a reference.
pub trait SessionKeyOf<In> {
    /// The session named in a record.
    fn session_of<'r>(&self, record: &'r In) -> Option<Cow<'r, str>>;
}

impl<In, N: SessionKeyOf<In>> SessionKeyOf<In> for &N {
    fn session_of<'r>(&self, record: &'r In) -> Option<Cow<'r, str>> {
        (**self).session_of(record)
    }
}

/// The maximum number of open sessions. A further session ends the least recently active one.
pub const MAX_SESSIONS: usize = 64;

/// The maximum number of bytes that all open sessions hold back, as counted by [`HeapSize`](foldline::processor::HeapSize). It
/// equals the limit of a single session. Beyond it, the least recently active sessions end.
pub const MAX_SESSIONS_SIZE: usize = 16 << 20;
