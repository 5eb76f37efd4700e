//! `result`: what the stream says of a run when it is over.

use std::borrow::Cow;

use crate::json::Raw;

use crate::{
    conversation::{CorrId, Text, TokenUsage},
    executors::{
        dialect::anthropic::usage,
        wire::{Object, value},
    },
};

/// The end of a run.
#[derive(Clone, Debug, Default)]
pub struct RunResult<'a> {
    /// `success`, `error_max_turns`, `error_during_execution`, ...
    pub subtype: Option<Text>,
    /// Whether the run failed. Not to be guessed from the subtype.
    pub is_error: Option<bool>,
    /// Usually repeats the agent's last words.
    pub result: Option<Text>,
    /// What went wrong.
    pub errors: Vec<Text>,
    /// Time taken, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Turns taken.
    pub turns: Option<u64>,
    /// Tokens of the main conversation; those of sub-agents are not in it.
    pub usage: Option<TokenUsage>,
    /// All input tokens of all models, where the line says so.
    pub model_input: Option<u64>,
    /// US dollars for all models, sub-agents and helpers included.
    pub cost_usd: Option<f64>,
    /// The calls that were not permitted.
    pub denials: Vec<Denial<'a>>,
    /// `completed`, `max_turns`, `api_error`.
    pub terminal_reason: Option<Text>,
}

/// A call that was not permitted.
#[derive(Clone, Debug)]
pub struct Denial<'a> {
    /// The call.
    pub call: Option<CorrId>,
    /// The tool.
    pub tool_name: Cow<'a, str>,
    /// What it was given.
    pub input: Option<Raw<'a>>,
}

impl<'a> RunResult<'a> {
    pub(super) fn take(object: &mut Object<'a>) -> Self {
        let subtype = object.text("subtype");
        let denials = object.array("permission_denials").unwrap_or_default();
        let model_usage = object.object("modelUsage");
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
            model_input: model_usage.map(model_input),
            cost_usd: object.f64("total_cost_usd"),
            denials: denials.into_iter().filter_map(Denial::read).collect(),
            terminal_reason: object.text("terminal_reason"),
        }
    }
}

/// All input tokens of all models: `{model: {inputTokens, ..}}`.
fn model_input(models: Object<'_>) -> u64 {
    let counters = ["inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
    let mut sum = 0_u64;
    for (_, raw) in models.rest() {
        let Some(mut model) = value::object(raw) else { continue };
        for counter in counters {
            sum = sum.saturating_add(model.u64(counter).unwrap_or(0));
        }
    }
    sum
}

impl<'a> Denial<'a> {
    fn read(raw: Raw<'a>) -> Option<Self> {
        let mut object: Object<'a> = value::object(raw)?;
        Some(Self {
            call: object.corr_id("tool_use_id"),
            tool_name: object.str("tool_name").unwrap_or_default(),
            input: object.raw("tool_input"),
        })
    }
}
