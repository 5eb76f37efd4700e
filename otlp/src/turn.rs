//! [`AgentTurn`]: what a user's message makes the agent do, with the sub-agents and the calls in it.

use std::collections::BTreeSet;

use foldline_domain::{
    ActionType, CommandExitStatus, CorrId, Timestamp, TokenUsage, ToolStatus, ToolUse,
};
use serde::{Deserialize, Serialize};

use super::{
    convention::{
        AGENT, AGENT_NAME, CACHE_CREATION_TOKENS, CACHE_READ_TOKENS, COST_USD, ERROR_TYPE,
        ESTIMATED_COST_USD, EXECUTE_TOOL, INPUT_MESSAGES, INPUT_TOKENS, INPUT_VALUE, INVOKE_AGENT,
        MCP_METHOD_NAME, OPERATION_NAME, OUTPUT_MESSAGES, OUTPUT_TOKENS, OUTPUT_VALUE,
        PROCESS_COMMAND_LINE, PROCESS_EXIT_CODE, REASONING_TOKENS, SPAN_KIND, TOOL_CALL_ARGUMENTS,
        TOOL_CALL_ID, TOOL_CALL_RESULT, TOOL_KIND, TOOL_NAME, TOOL_STATUS, TOOL_TYPE, TURN,
        UNFINISHED,
    },
    signal::{Attributes, Interval},
    trace::{SpanContext, SpanId, TraceId},
};

/// A turn that has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AgentTurn {
    /// 1, 2, 3, ... in the session.
    pub(super) number: u64,
    pub(super) context: SpanContext,
    /// The span of the session, or the one that this turn continues.
    pub(super) parent: Option<SpanId>,
    /// How often it was closed, and went on.
    continuations: u64,
    /// The calls that have ended in it: a span is sent once.
    pub(super) ended: BTreeSet<CorrId>,
    pub(super) times: Interval,
    /// The times at which its events arrived, if they were said.
    pub(super) arrived: Interval,
    /// Whether the agent has done something since the message of the user.
    pub(super) is_answered: bool,
    pub(super) usage: TokenUsage,
    /// US dollars for tokens whose cost the log does not state.
    pub(super) estimated_cost: Option<f64>,
    /// The time from which the model may have worked: that of the last message of the user or result of a call.
    pub(super) asked_at: Option<Timestamp>,
    /// The messages of the user and the last one of the agent, if content is requested.
    input: Vec<String>,
    output: Option<String>,
}

impl AgentTurn {
    /// A turn of a session that begins at this time. The time is part of its identity: an agent may continue a session
    /// in another log, where turns are numbered from 1 again.
    pub(super) fn new(
        session: &TraceId,
        is_trace: bool,
        number: u64,
        begun: Option<Timestamp>,
    ) -> Self {
        let begun = begun.map(|at| at.as_millis().to_string()).unwrap_or_default();
        let span_id = session.span("turn", &[&number.to_string(), &begun]);
        let (trace_id, parent) = match is_trace {
            true => (session.of_turn(&span_id), None),
            false => (session.clone(), Some(session_span(session).span_id)),
        };
        Self {
            number,
            context: SpanContext { trace_id, span_id },
            parent,
            continuations: 0,
            ended: BTreeSet::new(),
            times: Interval::default(),
            arrived: Interval::default(),
            is_answered: false,
            usage: TokenUsage::default(),
            estimated_cost: None,
            asked_at: None,
            input: Vec::new(),
            output: None,
        }
    }

    /// What follows after this turn was closed: a span of its own below the span of the turn, which was sent.
    pub(super) fn continuation(&self) -> Self {
        let SpanContext { trace_id, span_id } = &self.context;
        let begun = match &self.parent {
            Some(begun) if self.continuations > 0 => begun.clone(),
            _ => span_id.clone(),
        };
        let continuations = self.continuations + 1;
        let key = [begun.as_str(), &continuations.to_string()];
        Self {
            context: trace_id.context("continuation", &key),
            parent: Some(begun),
            continuations,
            times: Interval::default(),
            arrived: Interval::default(),
            usage: TokenUsage::default(),
            estimated_cost: None,
            input: Vec::new(),
            output: None,
            ..self.clone()
        }
    }

    /// Keeps a message of the user.
    pub(super) fn ask(&mut self, text: String) {
        self.input.push(text);
    }

    /// Keeps a message of the agent.
    pub(super) fn answer(&mut self, text: String) {
        self.output = Some(text);
    }

    /// The attributes of the turn without those of its session.
    pub(super) fn attributes(&self) -> Attributes {
        let attributes = Attributes::default()
            .with(OPERATION_NAME, INVOKE_AGENT)
            .with(SPAN_KIND, AGENT)
            .with(TURN, self.number);
        usage(attributes, &self.usage, self.estimated_cost)
            .with_known(INPUT_MESSAGES, messages("user", &self.input))
            .with_known(OUTPUT_MESSAGES, messages("assistant", self.output.as_slice()))
            .with_known(INPUT_VALUE, (!self.input.is_empty()).then(|| self.input.join("\n")))
            .with_known(OUTPUT_VALUE, self.output.as_deref())
    }
}

/// Adds tokens and cost.
pub(super) fn usage(
    attributes: Attributes,
    usage: &TokenUsage,
    estimated_cost: Option<f64>,
) -> Attributes {
    attributes
        .with_known(INPUT_TOKENS, usage.input_tokens)
        .with_known(CACHE_READ_TOKENS, usage.cache_read_tokens)
        .with_known(CACHE_CREATION_TOKENS, usage.cache_write_tokens)
        .with_known(OUTPUT_TOKENS, usage.output_tokens)
        .with_known(REASONING_TOKENS, usage.reasoning_tokens)
        .with_known(COST_USD, usage.cost_usd.filter(|cost| cost.is_finite()))
        .with_known(ESTIMATED_COST_USD, estimated_cost)
}

/// Messages in the JSON form of the conventions.
fn messages(role: &'static str, texts: &[String]) -> Option<String> {
    #[derive(Serialize)]
    struct Message<'t> {
        role: &'static str,
        parts: [Part<'t>; 1],
    }
    #[derive(Serialize)]
    struct Part<'t> {
        r#type: &'static str,
        content: &'t str,
    }
    let message = |text: &'_ String| {
        foldline_json::to_string(&Message { role, parts: [Part { r#type: "text", content: text }] })
            .ok()
    };
    let messages: Vec<_> = texts.iter().filter_map(message).collect();
    (!messages.is_empty()).then(|| format!("[{}]", messages.join(",")))
}

/// What is known of a sub-agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SubAgent {
    /// The turn in which it began.
    pub(super) turn: SpanContext,
    /// The times of its events.
    pub(super) times: Interval,
    /// The times at which they arrived, if they were said.
    pub(super) arrived: Interval,
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
    pub(super) fn new(turn: SpanContext) -> Self {
        Self {
            turn,
            times: Interval::default(),
            arrived: Interval::default(),
            name: None,
            is_called: false,
            has_events: false,
            is_emitted: false,
        }
    }

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
            .with(SPAN_KIND, AGENT)
            .with_known(AGENT_NAME, self.name.as_deref())
    }
}

/// Whether a call starts a sub-agent, of which there may be events after its end.
pub(super) fn starts_sub_agent(tool: &ToolUse) -> bool {
    matches!(tool.action_type, ActionType::TaskCreate { .. })
}

/// The span of a session that is one trace.
pub(super) fn session_span(session: &TraceId) -> SpanContext {
    session.context("session", &[])
}

/// The span of a call.
pub(super) fn call_span(trace: &TraceId, call: &CorrId) -> SpanContext {
    trace.context("call", &[call.as_str()])
}

/// The span of the sub-agent that this call started.
pub(super) fn sub_agent_span(trace: &TraceId, call: &CorrId) -> SpanContext {
    trace.context("sub-agent", &[call.as_str()])
}

/// The name of the tool, or of the action if the log states no name.
pub(super) fn tool_name(tool: &ToolUse) -> String {
    let name = tool.tool_name.decode();
    if name.trim().is_empty() { tool.action_type.name().to_owned() } else { name.into_owned() }
}

/// The type of the error, if the call failed. A call without a result has not failed.
pub(super) fn tool_error(tool: &ToolUse) -> Option<&'static str> {
    let is_failure = tool.status.is_failure() && tool.status != ToolStatus::Unfinished;
    is_failure.then(|| tool.status.name())
}

/// Whether the log has no result of the call.
pub(super) fn is_unfinished(tool: &ToolUse) -> bool {
    tool.status == ToolStatus::Unfinished || !tool.status.is_final()
}

/// The attributes of a call without those of its session. `has_content` adds arguments and results.
pub(super) fn call_attributes(corr_id: &CorrId, tool: &ToolUse, has_content: bool) -> Attributes {
    let name = tool_name(tool);
    let is_mcp = is_mcp_tool(&name);
    let attributes = Attributes::default()
        .with(OPERATION_NAME, EXECUTE_TOOL)
        .with(SPAN_KIND, "TOOL")
        .with(TOOL_NAME, name)
        .with(TOOL_CALL_ID, corr_id.as_str())
        .with(TOOL_TYPE, if is_mcp { "extension" } else { "function" })
        .with_known(MCP_METHOD_NAME, is_mcp.then_some("tools/call"))
        .with(TOOL_KIND, tool.action_type.kind().as_str())
        .with(TOOL_STATUS, tool.status.name())
        .with_known(ERROR_TYPE, tool_error(tool))
        .with_known(PROCESS_EXIT_CODE, exit_code(&tool.action_type))
        .with_known(UNFINISHED, is_unfinished(tool).then_some(true));
    if has_content { call_content(attributes, tool) } else { attributes }
}

/// `server___tool` (Droid) and `mcp__server__tool` (Claude Code and others).
fn is_mcp_tool(name: &str) -> bool {
    name.contains("___") || name.starts_with("mcp__")
}

fn exit_code(action: &ActionType) -> Option<i32> {
    let ActionType::CommandRun { result: Some(result), .. } = action else { return None };
    match result.exit_status? {
        CommandExitStatus::ExitCode { code } => Some(code),
        CommandExitStatus::Success { .. } => None,
    }
}

/// Adds the arguments, as JSON, and the result. The arguments are those of the log for a tool without an action of its
/// own, else the action.
fn call_content(attributes: Attributes, tool: &ToolUse) -> Attributes {
    let result = tool.action_type.result_text().map(|text| text.decode().into_owned());
    let mut action = tool.action_type.clone();
    action.take_result();
    let arguments = match &action {
        ActionType::Tool { arguments, .. } => arguments.as_ref().map(|json| json.get().to_owned()),
        action => foldline_json::to_string(action).ok(),
    };
    let command = match &action {
        ActionType::CommandRun { command, .. } => Some(command.decode().into_owned()),
        _ => None,
    };
    attributes
        .with_known(TOOL_CALL_ARGUMENTS, arguments)
        .with_known(TOOL_CALL_RESULT, result)
        .with_known(PROCESS_COMMAND_LINE, command)
}
