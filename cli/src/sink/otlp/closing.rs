//! [`Closing`]: an emitter of sessions whose turns end when nothing arrives any more.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use foldline::{
    position::{ByItem, Located, SessionKey},
    transduce::{Batch, Emitter, Resume},
};
use foldline_domain::{DomainEvent, PerSession};
use foldline_otlp::Signal;
use foldline_render::redact::Redact;

use super::{agent::AgentSpan, arrival::Arriving};

/// States to emitters that nothing has arrived for a while: the next event only wakes them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wake(Arc<AtomicBool>);

impl Wake {
    /// Whether events only wake.
    pub(crate) fn set(&self, is_waking: bool) {
        self.0.store(is_waking, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The emitter of a session, whose turn can be closed.
pub(super) trait CloseTurn {
    fn close_turn(&mut self) -> Batch<Signal>;
}

impl CloseTurn for Arriving {
    fn close_turn(&mut self) -> Batch<Signal> {
        self.session.close_turn()
    }
}

impl<M: CloseTurn> CloseTurn for Redact<M> {
    fn close_turn(&mut self) -> Batch<Signal> {
        self.get_mut().close_turn()
    }
}

impl<M: CloseTurn> CloseTurn for ByItem<M> {
    fn close_turn(&mut self) -> Batch<Signal> {
        self.get_mut().close_turn()
    }
}

/// The emitters of sessions, whose turns are closed by an event that wakes.
pub(super) struct Closing<M, Make> {
    pub(super) sessions: PerSession<M, Make>,
    pub(super) wake: Wake,
    /// The span of the agent, which ends last.
    pub(super) agent: Option<AgentSpan>,
}

impl<M, Make> Emitter<Located<DomainEvent>, (SessionKey, Signal)> for Closing<M, Make>
where
    M: Emitter<Located<DomainEvent>, Signal> + CloseTurn,
    Make: FnMut(&SessionKey) -> M,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<(SessionKey, Signal)> {
        if !self.wake.is_set() {
            return self.sessions.emit(event);
        }
        let sessions = self.sessions.get_mut().iter_mut();
        let closed =
            sessions.flat_map(|(key, session)| session.close_turn().map(|signal| (*key, signal)));
        closed.collect()
    }

    fn finish(&mut self) -> Batch<(SessionKey, Signal)> {
        let mut ended = Emitter::<Located<DomainEvent>, _>::finish(&mut self.sessions);
        let agent = self.agent.as_ref().and_then(AgentSpan::signal);
        ended.extend(agent.map(|signal| (SessionKey::default(), signal)));
        ended
    }
}

impl<M, Make> Resume for Closing<M, Make>
where
    PerSession<M, Make>: Resume,
{
    type State = <PerSession<M, Make> as Resume>::State;

    fn state(&self) -> Self::State {
        self.sessions.state()
    }

    fn resume(&mut self, state: Self::State) {
        self.sessions.resume(state);
    }
}
