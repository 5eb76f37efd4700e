//! [`AgentTurn`]: what a user's message makes the agent do.

use foldline_domain::{Timestamp, TokenUsage};
use serde::{Deserialize, Serialize};

use super::{
    attribute::Attributes,
    convention::{
        CACHE_CREATION_TOKENS, CACHE_READ_TOKENS, COST_USD, ESTIMATED_COST_USD, INPUT_MESSAGES,
        INPUT_TOKENS, INVOKE_AGENT, OPERATION_NAME, OUTPUT_MESSAGES, OUTPUT_TOKENS,
        REASONING_TOKENS, TURN,
    },
    histograms::Histograms,
    id::{SpanId, TraceId},
    moment::Interval,
};

/// A turn that has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AgentTurn {
    /// 1, 2, 3, ... in the session.
    pub(super) number: u64,
    pub(super) span: SpanId,
    pub(super) times: Interval,
    /// Whether the agent has done something since the message of the user.
    pub(super) is_answered: bool,
    pub(super) usage: TokenUsage,
    /// US dollars for tokens whose cost the log does not state.
    pub(super) estimated_cost: Option<f64>,
    pub(super) histograms: Histograms,
    /// The messages of the user and the last one of the agent, if content is requested.
    input: Vec<String>,
    output: Option<String>,
}

impl AgentTurn {
    /// A turn that begins at this time. The time is part of its identity: an agent may continue a session in another log,
    /// where turns are numbered from 1 again.
    pub(super) fn new(trace: &TraceId, number: u64, at: Option<Timestamp>) -> Self {
        let begun = at.map(|at| at.as_millis().to_string()).unwrap_or_default();
        let span = trace.span("turn", &[&number.to_string(), &begun]);
        Self {
            number,
            span,
            times: Interval::default(),
            is_answered: false,
            usage: TokenUsage::default(),
            estimated_cost: None,
            histograms: Histograms::default(),
            input: Vec::new(),
            output: None,
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
        let attributes =
            Attributes::default().with(OPERATION_NAME, INVOKE_AGENT).with(TURN, self.number);
        usage(attributes, &self.usage, self.estimated_cost)
            .with_known(INPUT_MESSAGES, messages("user", &self.input))
            .with_known(OUTPUT_MESSAGES, messages("assistant", self.output.as_slice()))
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
