//! [`AgentSpan`]: the span of the agent that this program runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldline_domain::Timestamp;
use foldline_otlp::{AgentRun, Signal, TraceParent};

use super::variables::{TRACEPARENT, Variables};
use crate::{error::Error, random};

/// The span of the agent that this program runs, shared by the run, which knows the agent, and by the sink. The agent is
/// started in it.
#[derive(Clone, Debug)]
pub(crate) struct AgentSpan {
    span: TraceParent,
    caller: Option<TraceParent>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The file name of the agent's program, its process id, and when it was started.
    started: Option<(String, u32, Timestamp)>,
    /// When it ended, and its exit code.
    ended: Option<(Timestamp, Option<i32>)>,
}

impl AgentSpan {
    /// A new span: in the trace of the variables if they name one.
    pub(crate) fn of(variables: &Variables) -> Result<Self, Error> {
        let (trace, span) = (random::digits::<16>()?, random::digits::<8>()?);
        let caller = variables.caller();
        let span = match &caller {
            Some(caller) => caller.child(&span),
            None => format!("00-{trace}-{span}-01").parse(),
        };
        let span = span.map_err(|error| Error::WrongUse(error.to_string()))?;
        Ok(Self { span, caller, state: Arc::default() })
    }

    /// The span as the agent's caller.
    pub(super) fn as_caller(&self) -> TraceParent {
        self.span.clone()
    }

    /// The environment variable for the agent.
    pub(crate) fn variable(&self) -> (&'static str, String) {
        (TRACEPARENT, self.span.to_string())
    }

    /// States that the agent was started.
    pub(crate) fn start(&self, executable: String, pid: u32, at: Timestamp) {
        self.lock().started = Some((executable, pid, at));
    }

    /// States that the agent has ended, by itself with this exit code or by a signal.
    pub(crate) fn end(&self, at: Timestamp, exit_code: Option<i32>) {
        self.lock().ended = Some((at, exit_code));
    }

    /// The span, once the agent has ended.
    pub(super) fn signal(&self) -> Option<Signal> {
        let mut state = self.lock();
        let (executable, pid, started) = state.started.take()?;
        let (ended, exit_code) = state.ended?;
        let (span, caller) = (self.span.clone(), self.caller.clone());
        AgentRun { span, caller, executable, pid, started }.ended(ended, exit_code)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
