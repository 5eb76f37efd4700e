//! The names of the semantic conventions, and ours.
//!
//! `tests/otlp/registry.txt` has the names and types of the published registries; a test compares them with what is
//! emitted.

/// The schema of the conventions for generative AI that the emitter follows. They have the status *Development*: their
/// names will change. The state of their repository, `open-telemetry/semantic-conventions-genai`, is that of commit
/// `004902b`. Its first release, 0.1.0, renames `gen_ai.usage.cache_creation.input_tokens` and the event of exceptions,
/// and replaces `gen_ai.client.token.usage`, of which `foldline_domain::metrics` has the name, too.
pub(super) const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev";

pub(super) const AGENT_NAME: &str = "gen_ai.agent.name";
pub(super) const AGENT_VERSION: &str = "gen_ai.agent.version";
pub(super) const CONVERSATION_ID: &str = "gen_ai.conversation.id";
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(super) const OPERATION_NAME: &str = "gen_ai.operation.name";
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(super) const PROVIDER_NAME: &str = "gen_ai.provider.name";
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const RESPONSE_ID: &str = "gen_ai.response.id";
pub(super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(super) const TOKEN_TYPE: &str = "gen_ai.token.type";
pub(super) const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
pub(super) const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";
pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const CACHE_CREATION_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
pub(super) const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
pub(super) const MCP_METHOD_NAME: &str = "mcp.method.name";

// The conventions of OpenTelemetry that those for generative AI depend on.
pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const EXCEPTION_MESSAGE: &str = "exception.message";
pub(super) const EXCEPTION_TYPE: &str = "exception.type";
pub(super) const PROCESS_COMMAND_LINE: &str = "process.command_line";
pub(super) const PROCESS_EXECUTABLE_NAME: &str = "process.executable.name";
pub(super) const PROCESS_PID: &str = "process.pid";
pub(super) const PROCESS_EXIT_CODE: &str = "process.exit.code";
pub(super) const PROCESS_WORKING_DIRECTORY: &str = "process.working_directory";
pub(super) const VCS_HEAD_NAME: &str = "vcs.ref.head.name";

pub(super) const SESSION_ID: &str = "session.id";

// The conventions of OpenInference, by which Phoenix shows the kind of a span, and groups traces.
pub(super) const INPUT_VALUE: &str = "input.value";
pub(super) const OUTPUT_VALUE: &str = "output.value";
pub(super) const SPAN_KIND: &str = "openinference.span.kind";
/// [`SPAN_KIND`] of a turn, a sub-agent and a session.
pub(super) const AGENT: &str = "AGENT";

// Events and metrics.
pub(super) const INFERENCE_EVENT: &str = "gen_ai.client.inference.operation.details";
pub(super) const EXCEPTION_EVENT: &str = "gen_ai.client.operation.exception";
pub(super) const TOKEN_USAGE: &str = "gen_ai.client.token.usage";
pub(super) const TOOL_DURATION: &str = "gen_ai.execute_tool.duration";

// Ours.
pub(super) const COST: &str = "foldline.cost";
pub(super) const COST_BASIS: &str = "foldline.cost.basis";
pub(super) const DERIVED: &str = "foldline.derived";
pub(super) const COST_USD: &str = "foldline.cost.usd";
pub(super) const ESTIMATED_COST_USD: &str = "foldline.cost.estimated_usd";
pub(super) const PARENT_CALL: &str = "foldline.parent.tool.call.id";
pub(super) const PARENT_CONVERSATION: &str = "foldline.parent.conversation.id";
pub(super) const OBSERVED: &str = "foldline.observed";
pub(super) const SESSION_OUTCOME: &str = "foldline.session.outcome";
pub(super) const SESSION_TITLE: &str = "foldline.session.title";
pub(super) const TOOL_KIND: &str = "foldline.tool.kind";
pub(super) const TOOL_STATUS: &str = "foldline.tool.status";
pub(super) const TURN: &str = "foldline.turn";
pub(super) const UNFINISHED: &str = "foldline.unfinished";
pub(super) const WARNING_EVENT: &str = "foldline.warning";
pub(super) const WARNING_KIND: &str = "foldline.warning.kind";
pub(super) const WARNING_MESSAGE: &str = "foldline.warning.message";
pub(super) const WARNING_SUBJECT: &str = "foldline.warning.subject";
/// The name of the span from the end of a turn to the next message of the user.
pub(super) const WAIT: &str = "wait_for_user";
/// The name of the span of a session.
pub(super) const SESSION: &str = "session";

/// `gen_ai.operation.name` of a request to a model.
pub(super) const CHAT: &str = "chat";
/// `gen_ai.operation.name` of a tool call.
pub(super) const EXECUTE_TOOL: &str = "execute_tool";
/// `gen_ai.operation.name` of a turn, and of a sub-agent.
pub(super) const INVOKE_AGENT: &str = "invoke_agent";

/// Who provides a model, by the beginning of its name, as the conventions spell them where they do. Without a known one,
/// it is the agent.
pub(super) fn provider_of(model: Option<&str>, agent: Option<&str>) -> String {
    const KNOWN: [(&str, &str); 16] = [
        ("claude", "anthropic"),
        ("gpt", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("codex", "openai"),
        ("gemini", "gcp.gemini"),
        ("grok", "x_ai"),
        ("mistral", "mistral_ai"),
        ("devstral", "mistral_ai"),
        ("codestral", "mistral_ai"),
        ("deepseek", "deepseek"),
        ("command", "cohere"),
        ("kimi", "moonshot_ai"),
        ("qwen", "alibaba_cloud"),
        ("glm", "z_ai"),
    ];
    let name = model.unwrap_or_default().to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let known = KNOWN.into_iter().find(|(beginning, _)| name.starts_with(beginning));
    known.map_or(agent.unwrap_or("unknown"), |(_, provider)| provider).to_owned()
}
