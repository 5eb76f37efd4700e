//! [`Interleaved`]: a stream of several sessions, for an emitter that knows one at a time.

use std::{borrow::Cow, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    conversation::{CorrId, DomainEvent, Located, NormalizedEntry, Session},
    transduce::{Batch, Emitter, Gather, Resume},
};

/// Lets an emitter that knows one session at a time read a stream that interleaves several
/// ([`Located::session`]).
///
/// When the stream goes on with another session, an event that states its id comes first. Correlation
/// ids of sessions other than the stream's first are qualified, as `session/id`: two sessions may use the
/// same ids. A stream of one session passes through untouched.
///
/// Where each session has a document of its own, a [`KeyedEmitter`](crate::transduce::KeyedEmitter) is the
/// better choice: an emitter a session, and ids as the log states them.
#[derive(Clone, Debug, Default)]
pub struct Interleaved<M> {
    emitter: M,
    sessions: Seen,
}

/// The sessions that were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    /// The stream's first.
    first: Option<Arc<str>>,
    /// The one that the last event belongs to.
    current: Option<Arc<str>>,
}

/// What an [`Interleaved`] remembers, beside what the emitter within does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InterleavedState<S> {
    sessions: Seen,
    emitter: S,
}

impl<S> InterleavedState<S> {
    /// What the emitter within remembers.
    pub fn into_emitter(self) -> S {
        self.emitter
    }
}

impl<M> Interleaved<M> {
    /// Events of all sessions for one emitter.
    pub fn new(emitter: M) -> Self {
        Self { emitter, sessions: Seen::default() }
    }

    /// The emitter within.
    pub fn get_ref(&self) -> &M {
        &self.emitter
    }

    /// The emitter within.
    pub fn get_mut(&mut self) -> &mut M {
        &mut self.emitter
    }

    /// The emitter within.
    pub fn into_inner(self) -> M {
        self.emitter
    }
}

impl<M, Out> Emitter<Located<DomainEvent>, Out> for Interleaved<M>
where
    M: Emitter<Located<DomainEvent>, Out>,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Out> {
        let Some(session) = &event.session else { return self.emitter.emit(event) };
        let Seen { first, current } = &mut self.sessions;
        let first = first.get_or_insert_with(|| session.clone());
        let goes_on = current.as_ref().is_none_or(|current| is_same(current, session));
        let mut all = Batch::EMPTY;
        if !goes_on && !states_its_id(&event.item) {
            let facts = Session { session_id: Some((**session).into()), ..Session::default() };
            let facts = DomainEvent::Session(Box::new(facts));
            all.append(self.emitter.emit(&located(event, facts)));
        }
        if !goes_on || current.is_none() {
            *current = Some(session.clone());
        }
        let qualified =
            if is_same(first, session) { None } else { qualified(&event.item, session) };
        let outputs = match qualified {
            Some(item) => self.emitter.emit(&located(event, item)),
            None => self.emitter.emit(event),
        };
        if all.is_empty() {
            return outputs;
        }
        all.append(outputs);
        all
    }

    fn finish(&mut self) -> Batch<Out> {
        self.emitter.finish()
    }
}

/// Keys of one session are mostly clones of each other.
fn is_same(left: &Arc<str>, right: &Arc<str>) -> bool {
    Arc::ptr_eq(left, right) || left == right
}

fn states_its_id(event: &DomainEvent) -> bool {
    matches!(event, DomainEvent::Session(session) if session.session_id.is_some())
}

fn located(event: &Located<DomainEvent>, item: DomainEvent) -> Located<DomainEvent> {
    Located::new(event.position, item)
        .with_line_sha256(event.line_sha256.clone())
        .in_session(event.session.clone())
}

/// The event with its correlation ids qualified; `None` if it has none.
fn qualified(event: &DomainEvent, session: &str) -> Option<DomainEvent> {
    let id = |corr_id: &CorrId| CorrId::from(format!("{session}/{corr_id}"));
    let entry = |entry: &Arc<NormalizedEntry>| {
        let mut entry = Cow::Borrowed(entry);
        if let Some(parent) = entry.metadata.as_ref().and_then(|it| it.parent_corr_id.as_ref()) {
            let parent = id(parent);
            Arc::make_mut(entry.to_mut()).metadata_mut().parent_corr_id = Some(parent);
        }
        entry.into_owned()
    };
    Some(match event {
        DomainEvent::NewEntry { entry: it } => DomainEvent::NewEntry { entry: entry(it) },
        DomainEvent::OpenEntry { corr_id, entry: it } => {
            DomainEvent::OpenEntry { corr_id: id(corr_id), entry: entry(it) }
        }
        DomainEvent::GrowEntry { corr_id, text } => {
            DomainEvent::GrowEntry { corr_id: id(corr_id), text: text.clone() }
        }
        DomainEvent::CloseEntry { corr_id, entry: it } => {
            DomainEvent::CloseEntry { corr_id: id(corr_id), entry: it.as_ref().map(entry) }
        }
        DomainEvent::NewToolCall { corr_id, entry: it } => {
            DomainEvent::NewToolCall { corr_id: id(corr_id), entry: entry(it) }
        }
        DomainEvent::UpdateToolCall { corr_id, entry: it } => {
            DomainEvent::UpdateToolCall { corr_id: id(corr_id), entry: entry(it) }
        }
        DomainEvent::Warning(warning) => {
            let mut warning = warning.clone();
            warning.corr_id = warning.corr_id.as_ref().map(id);
            DomainEvent::Warning(warning)
        }
        DomainEvent::Session(_) | DomainEvent::Usage { .. } => return None,
    })
}

impl<M: Resume> Resume for Interleaved<M> {
    type State = InterleavedState<M::State>;

    fn state(&self) -> Self::State {
        InterleavedState { sessions: self.sessions.clone(), emitter: self.emitter.state() }
    }

    fn resume(&mut self, state: Self::State) {
        self.sessions = state.sessions;
        self.emitter.resume(state.emitter);
    }
}

impl<M: Gather> Gather for Interleaved<M> {
    type Stretch = M::Stretch;

    fn cut(&mut self) -> M::Stretch {
        self.emitter.cut()
    }

    fn size(&self) -> usize {
        self.emitter.size()
    }
}
