//! [`OpenSession`]: the state of an open session, with all sessions of a file that changes its session id.

use std::{collections::BTreeMap, sync::Arc};

use foldline::transduce::Batch;
use foldline_domain::{
    CorrId, Digest, DomainEvent, Located, LocatingState, Position, Session, SessionId, SessionKey,
};
use serde::{Deserialize, Serialize};

use super::MAX_SESSIONS;

/// A reducer state and its session. A file that continues under another id has one state and several sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenSession<S> {
    /// Its name in the records of a stream.
    pub(super) name: Option<String>,
    pub(super) state: LocatingState<S>,
    sessions: Numbered,
}

/// The sessions of one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Numbered {
    /// The current session comes last, after those that it continues.
    sessions: Vec<(SessionKey, Session)>,
    /// The sessions of open entries and calls, recorded from the second session on: an update belongs to the session of
    /// its entry.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    opened: BTreeMap<CorrId, SessionKey>,
}

/// The number of the next session of a log.
pub(super) type Next = u32;

impl<S> OpenSession<S> {
    pub(super) fn new(state: LocatingState<S>, next: &mut Next) -> Self {
        let sessions = vec![(begin(next), Session::default())];
        Self { name: None, state, sessions: Numbered { sessions, opened: BTreeMap::new() } }
    }

    /// Converts the state and returns the second value of the conversion.
    pub(super) fn map<T, V>(
        self,
        make: impl FnOnce(LocatingState<S>) -> (LocatingState<T>, V),
    ) -> (OpenSession<T>, V) {
        let Self { name, state, sessions } = self;
        let (state, value) = make(state);
        (OpenSession { name, state, sessions }, value)
    }

    /// Converts the state.
    ///
    /// # Errors
    /// The error of `make`.
    pub(super) fn try_map<T, E>(
        self,
        make: impl FnOnce(S) -> Result<T, E>,
    ) -> Result<OpenSession<T>, E> {
        let Self { name, state, sessions } = self;
        Ok(OpenSession { name, state: state.try_map(make)?, sessions })
    }

    /// Stamps events with their sessions.
    pub(super) fn stamp(
        &mut self,
        mut events: Batch<Located<DomainEvent>>,
        next: &mut Next,
    ) -> Batch<Located<DomainEvent>> {
        let mut ends = Batch::EMPTY;
        // In place: events are large.
        for event in events.as_mut_slice() {
            if let DomainEvent::Session(news) = &mut event.item {
                let ended = self.sessions.learn(news, next);
                ends.extend(ended.map(|key| end(event.position, event.line_sha256.as_ref(), key)));
            }
            event.session = self.sessions.session_of(&event.item);
        }
        events.append(ends);
        events
    }

    /// The ends of its sessions.
    pub(super) fn ends(&self) -> impl Iterator<Item = Located<DomainEvent>> {
        let LocatingState { position, line_sha256, .. } = &self.state;
        let sessions = self.sessions.sessions.iter();
        sessions.map(|(key, _)| end(*position, line_sha256.as_ref(), *key))
    }
}

impl Numbered {
    /// Assigns facts to the current session or, if they state another id, to another session, which becomes the current
    /// one. Returns the session that this ends.
    fn learn(&mut self, news: &mut Session, next: &mut Next) -> Option<SessionKey> {
        let mut ended = None;
        let (_, known) = self.sessions.last()?;
        if let Some(id) = is_another(known, news) {
            let before =
                self.sessions.iter().position(|(_, known)| known.session_id.as_ref() == Some(id));
            match before {
                Some(at) => self.sessions[at..].rotate_left(1),
                None => {
                    // The same agent continues in the same folder and states only changed facts.
                    let mut all = known.clone();
                    all.merge(news);
                    *news = all;
                    self.sessions.push((begin(next), Session::default()));
                    if self.sessions.len() > MAX_SESSIONS {
                        ended = Some(self.sessions.remove(0).0);
                    }
                }
            }
        }
        let (_, known) = self.sessions.last_mut()?;
        known.merge(&lasting(news));
        ended
    }

    /// The session of an event: the session of the entry that it updates, otherwise the current one.
    fn session_of(&mut self, event: &DomainEvent) -> SessionKey {
        let Self { sessions, opened } = self;
        let current = sessions.last().map_or_else(SessionKey::default, |(key, _)| *key);
        if sessions.len() == 1 {
            return current;
        }
        // Entries opened before the second session belong to the first.
        let first = || sessions.iter().map(|(key, _)| *key).min().unwrap_or(current);
        match event {
            DomainEvent::NewToolCall { corr_id, .. } | DomainEvent::OpenEntry { corr_id, .. } => {
                opened.insert(corr_id.clone(), current);
                current
            }
            DomainEvent::GrowEntry { corr_id, .. } => {
                opened.get(corr_id).copied().unwrap_or_else(first)
            }
            DomainEvent::UpdateToolCall { corr_id, entry }
                if entry.tool().is_some_and(|tool| !tool.status.is_final()) =>
            {
                opened.get(corr_id).copied().unwrap_or_else(first)
            }
            DomainEvent::UpdateToolCall { corr_id, .. }
            | DomainEvent::CloseEntry { corr_id, .. } => {
                opened.remove(corr_id).unwrap_or_else(first)
            }
            _ => current,
        }
    }
}

/// The id in the facts, if it differs from the session's.
fn is_another<'n>(known: &Session, news: &'n Session) -> Option<&'n SessionId> {
    let id = news.session_id.as_ref()?;
    known.session_id.as_ref().is_some_and(|known| known != id).then_some(id)
}

/// The facts that a session inherits from the one it continues.
fn lasting(news: &Session) -> Session {
    let Session { session_id, agent, version, model, cwd, branch, .. } = news.clone();
    Session { session_id, agent, version, model, cwd, branch, ..Session::default() }
}

fn begin(next: &mut Next) -> SessionKey {
    let key = SessionKey(*next);
    *next = next.saturating_add(1);
    key
}

/// The end of a session, caused by its last record or by the first record of another session.
fn end(
    position: Position,
    line_sha256: Option<&Arc<Digest>>,
    key: SessionKey,
) -> Located<DomainEvent> {
    Located::new(position, DomainEvent::SessionEnded)
        .with_line_sha256(line_sha256.cloned())
        .in_session(key)
}
