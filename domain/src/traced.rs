//! [`Traced`]: spans and log lines of `tracing` about sources and sessions.

use std::collections::BTreeMap;

use foldline::transduce::{Batch, Emitter, Resume};
use tracing::{Span, info, info_span, trace, warn};

use crate::conversation::{DomainEvent, Located, Position, SessionKey, WarningKind};

/// Passes events to an emitter within a span for their session, and logs a summary of the source at its end.
///
/// - The span `session`, within the span of the source, has the fields `id` and `agent`; it does not exist until the
///   log has named its session. Its level is `INFO`.
/// - [`end_source`](Self::end_source), and therefore completion, logs one line at `WARN` for each kind of warning,
///   with its count, and one line at `INFO` for the source.
/// - Each event is a line at `TRACE`.
///
/// Log lines of the inner emitter are in the span of the session. The caller that drives a reducer enters
/// [`span`](Self::span) before each step, so that log lines of the reducer are in it, too.
///
/// ```
/// use foldline::transduce::{Batch, Transducer, emit_fn};
/// use foldline_agents::{ExecutorReducer, droid::Droid, wire::Record};
/// use foldline_domain::{DomainEvent, Located, Position, locating, traced::Traced};
/// use tracing::info_span;
///
/// let names = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.item.name()));
/// let traced = Traced::new(info_span!("source", path = "session.jsonl"), names);
/// let mut transducer = Transducer::new(locating(ExecutorReducer::new(Droid)), traced);
/// let line = r#"{"type":"message","role":"user","text":"hi","session_id":"s1"}"#;
/// Record::read(line, |_, record| {
///     let session = transducer.emitter().span().clone();
///     session.in_scope(|| transducer.step(Located::new(Position::default(), record)));
/// });
/// transducer.finish(); // logs: source read sessions=1 entries=1 calls=0 warnings=0
/// ```
#[derive(Clone, Debug)]
pub struct Traced<M> {
    emitter: M,
    source: Span,
    session: SessionKey,
    /// The spans of open sessions that the log has named.
    spans: BTreeMap<SessionKey, Span>,
    seen: Seen,
}

/// Counts of a source.
#[derive(Clone, Debug, Default)]
struct Seen {
    sessions: u64,
    entries: u64,
    calls: u64,
    warnings: BTreeMap<WarningKind, u64>,
}

impl<M> Traced<M> {
    /// Passes on the events of the source with this span.
    pub fn new(source: Span, emitter: M) -> Self {
        Self {
            emitter,
            source,
            session: SessionKey::default(),
            spans: BTreeMap::new(),
            seen: Seen::default(),
        }
    }

    /// The span of the current session, or of the source before the log has named one.
    pub fn span(&self) -> &Span {
        self.spans.get(&self.session).unwrap_or(&self.source)
    }

    /// Logs the counts since the last call: the source has ended, at least for now.
    pub fn end_source(&mut self) {
        let Seen { sessions, entries, calls, warnings } = std::mem::take(&mut self.seen);
        for (kind, count) in &warnings {
            warn!(parent: &self.source, kind = kind.as_str(), count, "not fully understood");
        }
        let warnings: u64 = warnings.values().sum();
        info!(parent: &self.source, sessions, entries, calls, warnings, "source read");
    }

    fn see(&mut self, event: &Located<DomainEvent>) {
        self.session = event.session;
        match &event.item {
            DomainEvent::Session(news) => {
                if let Some(id) = &news.session_id
                    && !self.spans.contains_key(&event.session)
                {
                    self.seen.sessions += 1;
                    let agent = news.agent.as_ref().map(tracing::field::debug);
                    let span = info_span!(parent: &self.source, "session", ?id, agent);
                    self.spans.insert(event.session, span);
                }
            }
            DomainEvent::NewEntry { .. } | DomainEvent::OpenEntry { .. } => self.seen.entries += 1,
            DomainEvent::NewToolCall { .. } => {
                self.seen.entries += 1;
                self.seen.calls += 1;
            }
            DomainEvent::Warning(warning) => {
                *self.seen.warnings.entry(warning.kind).or_default() += 1;
            }
            _ => {}
        }
    }
}

impl<M, Out> Emitter<Located<DomainEvent>, Out> for Traced<M>
where
    M: Emitter<Located<DomainEvent>, Out>,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Out> {
        self.see(event);
        let Position { line, offset } = event.position;
        let session = self.spans.get(&self.session).unwrap_or(&self.source);
        let emitter = &mut self.emitter;
        let out = session.in_scope(|| {
            trace!(event = event.item.name(), line, offset, "event");
            emitter.emit(event)
        });
        if event.item == DomainEvent::SessionEnded {
            self.spans.remove(&event.session);
        }
        out
    }

    fn finish(&mut self) -> Batch<Out> {
        let out = self.span().clone().in_scope(|| self.emitter.finish());
        self.end_source();
        out
    }
}

impl<M> Traced<M> {
    /// Returns the inner emitter.
    pub fn into_inner(self) -> M {
        self.emitter
    }

    /// A reference to the inner emitter.
    pub const fn get_ref(&self) -> &M {
        &self.emitter
    }

    /// A mutable reference to the inner emitter.
    pub const fn get_mut(&mut self) -> &mut M {
        &mut self.emitter
    }
}

impl<M: Resume> Resume for Traced<M> {
    type State = M::State;

    fn state(&self) -> M::State {
        self.emitter.state()
    }

    fn resume(&mut self, state: M::State) {
        self.emitter.resume(state);
    }
}
