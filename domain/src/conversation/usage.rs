//! [`TokenUsage`]: tokens and cost of a conversation.

use serde::{Deserialize, Serialize};

/// Tokens and cost. A field is `None` if the log does not state it, which differs from zero. Fields may be added: end
/// a literal with `..TokenUsage::default()`.
///
/// All agents use the meaning of the OpenTelemetry semantic conventions for generative AI
/// (`gen_ai.usage.input_tokens`): input includes tokens read from and written to a cache, and output includes
/// reasoning. If an agent's log excludes them, its executor adds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenUsage {
    /// All input tokens, including cached ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// All output tokens, including reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The part of the input that was read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// The part of the input that was written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// The part of [`cache_write_tokens`](Self::cache_write_tokens) that the cache keeps for an hour instead of five
    /// minutes, at a different price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_1h_tokens: Option<u64>,
    /// The part of the output that was reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Cost in US dollars, if the log states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl TokenUsage {
    /// Whether all fields are unknown.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether all known fields are zero, as in a repeated report.
    pub fn is_zero(&self) -> bool {
        let counters = [
            self.input_tokens,
            self.output_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
            self.cache_write_1h_tokens,
            self.reasoning_tokens,
        ];
        counters.into_iter().flatten().all(|count| count == 0)
            && self.cost_usd.is_none_or(|cost| cost <= 0.0)
    }

    /// Adds `more`; a field that is unknown on both sides stays unknown.
    pub fn add(&mut self, more: &Self) {
        add(&mut self.input_tokens, more.input_tokens, u64::saturating_add);
        add(&mut self.output_tokens, more.output_tokens, u64::saturating_add);
        add(&mut self.cache_read_tokens, more.cache_read_tokens, u64::saturating_add);
        add(&mut self.cache_write_tokens, more.cache_write_tokens, u64::saturating_add);
        add(&mut self.cache_write_1h_tokens, more.cache_write_1h_tokens, u64::saturating_add);
        add(&mut self.reasoning_tokens, more.reasoning_tokens, u64::saturating_add);
        add(&mut self.cost_usd, more.cost_usd, |a, b| a + b);
    }

    /// The increase since `earlier`, for logs that repeat a growing total.
    ///
    /// A counter that decreased adds nothing.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            input_tokens: since(self.input_tokens, earlier.input_tokens),
            output_tokens: since(self.output_tokens, earlier.output_tokens),
            cache_read_tokens: since(self.cache_read_tokens, earlier.cache_read_tokens),
            cache_write_tokens: since(self.cache_write_tokens, earlier.cache_write_tokens),
            cache_write_1h_tokens: since(self.cache_write_1h_tokens, earlier.cache_write_1h_tokens),
            reasoning_tokens: since(self.reasoning_tokens, earlier.reasoning_tokens),
            cost_usd: self.cost_usd.map(|now| (now - earlier.cost_usd.unwrap_or(0.0)).max(0.0)),
        }
    }

    /// The larger of the two in every field, for logs that repeat a growing total.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        Self {
            input_tokens: self.input_tokens.max(other.input_tokens),
            output_tokens: self.output_tokens.max(other.output_tokens),
            cache_read_tokens: self.cache_read_tokens.max(other.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.max(other.cache_write_tokens),
            cache_write_1h_tokens: self.cache_write_1h_tokens.max(other.cache_write_1h_tokens),
            reasoning_tokens: self.reasoning_tokens.max(other.reasoning_tokens),
            cost_usd: match (self.cost_usd, other.cost_usd) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            },
        }
    }
}

fn add<N: Copy>(total: &mut Option<N>, more: Option<N>, plus: impl Fn(N, N) -> N) {
    if let Some(more) = more {
        *total = Some(total.map_or(more, |total| plus(total, more)));
    }
}

fn since(now: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    now.map(|now| now.saturating_sub(earlier.unwrap_or(0)))
}
