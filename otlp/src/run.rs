//! [`AgentRun`]: the span of a program that runs an agent.

use foldline_domain::Timestamp;

use super::{
    convention::{ERROR_TYPE, PROCESS_EXECUTABLE_NAME, PROCESS_EXIT_CODE, PROCESS_PID},
    signal::{Attributes, Moment, Signal, SignalData, Span, SpanKind, SpanStatus},
    trace::TraceParent,
};

/// An agent that another program has run, in a span of that program.
#[derive(Clone, Debug)]
pub struct AgentRun {
    /// The span, in which the agent was started.
    pub span: TraceParent,
    /// The span that the program itself was started in, if there is one.
    pub caller: Option<TraceParent>,
    /// The file name of the program of the agent.
    pub executable: String,
    /// The process id of the agent.
    pub pid: u32,
    /// When it was started.
    pub started: Timestamp,
}

impl AgentRun {
    /// The span, if OTLP can express its times. The agent has ended with this exit code, unless a signal ended it.
    pub fn ended(self, ended: Timestamp, exit_code: Option<i32>) -> Option<Signal> {
        let error = match exit_code {
            Some(0) => None,
            Some(code) => Some(code.to_string()),
            None => Some("signal".to_owned()),
        };
        let is_failed = error.is_some();
        let start = Moment::of(self.started)?;
        Some(Signal(SignalData::Span(Box::new(Span {
            context: self.span.context,
            trace_state: self.span.state,
            parent_span_id: self.caller.map(|caller| caller.context.span_id),
            start_time_unix_nano: start,
            end_time_unix_nano: Moment::of(ended)?.max(start),
            attributes: Attributes::default()
                .with(PROCESS_EXECUTABLE_NAME, self.executable.as_str())
                .with(PROCESS_PID, u64::from(self.pid))
                .with_known(PROCESS_EXIT_CODE, exit_code)
                .with_known(ERROR_TYPE, error),
            name: self.executable,
            kind: SpanKind::Client,
            links: Vec::new(),
            status: is_failed.then_some(SpanStatus::ERROR),
        }))))
    }
}
