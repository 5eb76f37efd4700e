//! `result`: the summary at the end of a run.

use crate::{
    dialect::anthropic::{Denial, usage},
    prelude::*,
};

/// The end of a run.
#[derive(Clone, Debug, Default)]
pub struct RunResult<'a> {
    /// `success`, `error_max_turns`, `error_during_execution`, ...
    pub subtype: Option<Text>,
    /// Whether the run failed. The subtype does not determine it.
    pub is_error: Option<bool>,
    /// Usually repeats the agent's last words.
    pub result: Option<Text>,
    pub errors: Vec<Text>,
    pub duration_ms: Option<u64>,
    pub turns: Option<u64>,
    /// Tokens of the main conversation, without sub-agents.
    pub usage: Option<TokenUsage>,
    /// Tokens and cost by model, including sub-agents and helper models, if stated.
    pub models: Vec<(Text, TokenUsage)>,
    /// The cost in US dollars of all models, including sub-agents and helper models.
    pub cost_usd: Option<f64>,
    pub denials: Vec<Denial<'a>>,
    /// `completed`, `max_turns`, `api_error`.
    pub terminal_reason: Option<Text>,
}

impl<'a> RunResult<'a> {
    pub(super) fn take(object: &mut Object<'a>) -> Self {
        let subtype = object.text("subtype");
        let models = take_models(object);
        object.ignore(&[
            "api_error_status",
            "duration_api_ms",
            "fast_mode_disabled_reason",
            "fast_mode_state",
            "first_content_frame_ms",
            "queued_turn_count",
            "result_index",
            "stop_reason",
            "structured_output",
            "subagent_stats",
            "time_to_request_ms",
            "ttft_ms",
            "ttft_stream_ms",
        ]);
        Self {
            subtype,
            is_error: object.bool("is_error"),
            result: object.text("result"),
            errors: object
                .array("errors")
                .unwrap_or_default()
                .into_iter()
                .map(value::into_text)
                .collect(),
            duration_ms: object.u64("duration_ms"),
            turns: object.u64("num_turns"),
            usage: usage::take(object),
            models,
            cost_usd: object.f64("total_cost_usd"),
            denials: Denial::take_all(object),
            terminal_reason: object.text("terminal_reason"),
        }
    }
}

/// Takes `modelUsage`: `{model: {inputTokens, ..}}`. As elsewhere, cached input is counted separately.
fn take_models(object: &mut Object<'_>) -> Vec<(Text, TokenUsage)> {
    let models = object.object("modelUsage").map(Object::rest).unwrap_or_default();
    let mut read = Vec::new();
    for (name, raw) in models {
        let Some(mut model) = value::object(raw) else { continue };
        let cache_read = model.u64("cacheReadInputTokens");
        let cache_write = model.u64("cacheCreationInputTokens");
        let input = [model.u64("inputTokens"), cache_read, cache_write].into_iter().flatten();
        let usage = TokenUsage {
            input_tokens: input.reduce(u64::saturating_add),
            output_tokens: model.u64("outputTokens"),
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            reasoning_tokens: model.u64("thinkingTokens"),
            cost_usd: model.f64("costUSD"),
            ..TokenUsage::default()
        };
        model.ignore(&["canonicalModel", "contextWindow", "costBasis", "maxOutputTokens"]);
        model.ignore(&["provider", "webSearchRequests"]);
        // Some logs also repeat the fields of `usage` under their names there.
        model.ignore(&["input_tokens", "output_tokens", "service_tier"]);
        object.adopt("modelUsage", model);
        if !usage.is_empty() {
            read.push((Text::from(name), usage));
        }
    }
    read
}
