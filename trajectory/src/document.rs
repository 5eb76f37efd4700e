//! The fields of an ATIF document, as they are serialised.

use foldline_domain::{Extra, Json, OF_WINDOW, Summary, Text, Timestamp, TokenUsage};
use serde::Serialize;

use crate::content::Content;

/// The version of the format.
pub(crate) const VERSION: &str = "ATIF-v1.8";

/// A trajectory: a session, or a sub-agent in it.
#[derive(Debug, Serialize)]
pub(crate) struct Trajectory {
    pub(crate) schema_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trajectory_id: Option<String>,
    pub(crate) agent: Agent,
    pub(crate) steps: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) final_metrics: Option<FinalMetrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) extra: Option<Own<Rest>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) subagent_trajectories: Vec<Trajectory>,
}

/// The agent. Its name and version are required: `unknown` where the log states none.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Agent {
    pub(crate) name: Text,
    pub(crate) version: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_name: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_definitions: Option<Vec<ToolDefinition>>,
}

/// A tool, of which only the name is known.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ToolDefinition {
    pub(crate) r#type: &'static str,
    pub(crate) function: ToolFunction,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ToolFunction {
    pub(crate) name: Text,
}

/// A step.
#[derive(Debug, Serialize)]
pub(crate) struct Step {
    pub(crate) step_id: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timestamp: Option<String>,
    pub(crate) source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_name: Option<Text>,
    pub(crate) message: Content,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_content: Option<Text>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observation: Option<Observation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metrics: Option<Metrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) llm_call_count: Option<usize>,
    pub(crate) extra: Own<StepRest>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ToolCall {
    pub(crate) tool_call_id: String,
    pub(crate) function_name: Text,
    pub(crate) arguments: Json,
    pub(crate) extra: Own<EntryRest>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Observation {
    pub(crate) results: Vec<ObservationResult>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ObservationResult {
    pub(crate) source_call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subagent_trajectory_ref: Option<[SubagentRef; 1]>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SubagentRef {
    pub(crate) trajectory_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
}

/// What a step cost.
#[derive(Debug, Serialize)]
pub(crate) struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prompt_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cached_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub(crate) extra: Extra,
}

/// What the session cost.
#[derive(Debug, Serialize)]
pub(crate) struct FinalMetrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_prompt_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_cached_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_cost_usd: Option<f64>,
    pub(crate) total_steps: usize,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub(crate) extra: Extra,
}

/// What ATIF has no field for, under the name of the program that writes it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Own<T> {
    pub(crate) foldline: T,
}

/// Of a document: the facts of the session, its warnings, and usage that belongs to no step.
#[derive(Debug, Serialize)]
pub(crate) struct Rest {
    #[serde(flatten)]
    pub(crate) summary: Summary,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) usages: Vec<Used>,
}

/// Of a step: its entries, and each usage in its metrics. None has neither: the step of an empty session.
#[derive(Debug, Default, Serialize)]
pub(crate) struct StepRest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning: Option<EntryRest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<EntryRest>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) usages: Vec<Used>,
}

/// Of an entry.
#[derive(Debug, Default, Serialize)]
pub(crate) struct EntryRest {
    /// The index of the entry in its session.
    pub(crate) entry: usize,
    /// Its time in milliseconds, or null, where it is not that of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timestamp: Option<Json>,
    /// Its type, where the step does not state it; of a call without the arguments and the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry_type: Option<Json>,
    /// The content of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<Text>,
    /// Whether the result is a JSON value, whose text is the content.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_json: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<Json>,
    /// The pictures; one with `text` has a content part, which replaces that text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) images: Vec<Json>,
}

/// Tokens that were used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Used {
    /// The number of entries before.
    #[serde(skip)]
    pub(crate) after: usize,
    #[serde(flatten)]
    pub(crate) usage: TokenUsage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message_id: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timestamp: Option<Timestamp>,
}

impl Used {
    /// Whether it is of one request, rather than the cost of a time or of the whole session.
    pub(crate) fn is_of_request(&self) -> bool {
        let is_window = self.message_id.as_ref().is_some_and(|id| id.begins_with(OF_WINDOW));
        !is_window && (self.usage.input_tokens.is_some() || self.usage.output_tokens.is_some())
    }
}
