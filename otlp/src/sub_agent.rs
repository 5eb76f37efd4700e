//! [`SubAgent`]: a sub-agent, whose span is below the call that started it.

use foldline_domain::{ActionType, CorrId, ToolUse};
use serde::{Deserialize, Serialize};

use super::{
    attribute::Attributes,
    convention::{AGENT_NAME, INVOKE_AGENT, OPERATION_NAME},
    id::{SpanId, TraceId},
    moment::Interval,
};

/// What is known of a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SubAgent {
    /// The times of its events.
    pub(super) times: Interval,
    /// Its type, if its call states one.
    pub(super) name: Option<String>,
    /// Whether its call is in the log.
    pub(super) is_called: bool,
    /// Whether the log has events of it.
    pub(super) has_events: bool,
    /// Whether its span was emitted. Later events belong to it, and do not change it.
    pub(super) is_emitted: bool,
}

impl SubAgent {
    /// Takes what a call says of the sub-agent that it starts.
    pub(super) fn call(&mut self, tool: &ToolUse) {
        self.is_called = true;
        if let ActionType::TaskCreate { subagent_type: Some(name), .. } = &tool.action_type {
            self.name = Some(name.decode().into_owned());
        }
    }

    /// The attributes of its span without those of its session.
    pub(super) fn attributes(&self) -> Attributes {
        Attributes::default()
            .with(OPERATION_NAME, INVOKE_AGENT)
            .with_known(AGENT_NAME, self.name.as_deref())
    }
}

/// Whether a call starts a sub-agent, of which there may be events after its end.
pub(super) fn starts(tool: &ToolUse) -> bool {
    matches!(tool.action_type, ActionType::TaskCreate { .. })
}

/// The span of the sub-agent that this call started.
pub(super) fn span(trace: &TraceId, call: &CorrId) -> SpanId {
    trace.span("sub-agent", &[call.as_str()])
}
