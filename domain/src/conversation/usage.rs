//! [`TokenUsage`]: tokens and cost of a conversation.

use serde::{Deserialize, Serialize};

/// The beginning of the id of a message that is the same one only in a session and in those that descend from it: a running
/// total of a thread, which its forks repeat. Any other id is that of one message everywhere.
pub const OF_THREAD: &str = "thread:";

/// The beginning of the id under which a log states the cost of all that was used from a moment, which follows in
/// milliseconds, to the time of the usage: by the session and by its sub-agents, whose logs state none.
pub const OF_WINDOW: &str = "window:";

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
    /// Searches of the web by the provider, which are charged beside the tokens. Executors state none instead of zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_searches: Option<u64>,
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
            self.web_searches,
        ];
        counters.into_iter().flatten().all(|count| count == 0)
            && self.cost_usd.is_none_or(|cost| cost <= 0.0)
    }

    /// Adds `more`; a field that is unknown on both sides stays unknown.
    pub fn add(&mut self, more: &Self) {
        *self = self.merged(more, either(u64::saturating_add), either(|a, b| a + b));
    }

    /// The increase since `earlier`, for logs that repeat a growing total.
    ///
    /// A counter that decreased adds nothing.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.merged(
            earlier,
            |now, earlier| Some(now?.saturating_sub(earlier.unwrap_or(0))),
            |now, earlier| Some((now? - earlier.unwrap_or(0.0)).max(0.0)),
        )
    }

    /// The larger of the two in every field, for logs that repeat a growing total.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        self.merged(other, either(u64::max), either(f64::max))
    }

    /// The results of `tokens` and `cost` for each pair of fields.
    fn merged(
        &self,
        other: &Self,
        tokens: impl Fn(Option<u64>, Option<u64>) -> Option<u64>,
        cost: impl Fn(Option<f64>, Option<f64>) -> Option<f64>,
    ) -> Self {
        Self {
            input_tokens: tokens(self.input_tokens, other.input_tokens),
            output_tokens: tokens(self.output_tokens, other.output_tokens),
            cache_read_tokens: tokens(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens: tokens(self.cache_write_tokens, other.cache_write_tokens),
            cache_write_1h_tokens: tokens(self.cache_write_1h_tokens, other.cache_write_1h_tokens),
            reasoning_tokens: tokens(self.reasoning_tokens, other.reasoning_tokens),
            web_searches: tokens(self.web_searches, other.web_searches),
            cost_usd: cost(self.cost_usd, other.cost_usd),
        }
    }
}

/// The result of `both` if both values are known, else the known one.
fn either<N>(both: impl Fn(N, N) -> N) -> impl Fn(Option<N>, Option<N>) -> Option<N> {
    move |a, b| match (a, b) {
        (Some(a), Some(b)) => Some(both(a, b)),
        (a, b) => a.or(b),
    }
}
