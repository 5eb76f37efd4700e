//! Codex's token counters.
//!
//! `input_tokens` includes cached input, and `output_tokens` includes reasoning (in every captured counter
//! `total_tokens` is the sum of the two), so nothing is added here.
//!
//! Both formats state running totals of the *thread*, never the tokens of one turn: rollout files repeat
//! `total_token_usage` often, and `turn.completed` of `codex exec` copies it. So a resumed thread starts with its
//! earlier usage.

use foldline_domain::TokenUsage;
use serde::{Deserialize, Serialize};

use super::case::either;
use crate::wire::Object;

/// Takes the field `key`, a usage object of either format. Its unknown fields stay, as `key.name`.
pub(super) fn take_usage(object: &mut Object<'_>, key: &str) -> Option<TokenUsage> {
    object.within(key, |usage| {
        usage.ignore(&["total_tokens", "totalTokens"]);
        TokenUsage {
            input_tokens: either(usage, "input_tokens", Object::u64),
            output_tokens: either(usage, "output_tokens", Object::u64),
            cache_read_tokens: either(usage, "cached_input_tokens", Object::u64),
            cache_write_tokens: either(usage, "cache_write_input_tokens", Object::u64),
            reasoning_tokens: either(usage, "reasoning_output_tokens", Object::u64),
            ..TokenUsage::default()
        }
    })
}

/// A running total, and the part that was reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counter {
    total: TokenUsage,
}

impl Counter {
    /// Sets the current total and returns its increase, if any.
    ///
    /// A smaller total was reset, so all of it is new.
    pub(super) fn advance(&mut self, now: TokenUsage) -> Option<TokenUsage> {
        if went_back(now.input_tokens, self.total.input_tokens)
            || went_back(now.output_tokens, self.total.output_tokens)
        {
            self.total = TokenUsage::default();
        }
        let more = now.since(&self.total);
        self.total = self.total.max(&now);
        let counts = [
            more.input_tokens,
            more.output_tokens,
            more.cache_read_tokens,
            more.cache_write_tokens,
            more.reasoning_tokens,
        ];
        counts.into_iter().flatten().any(|count| count > 0).then_some(more)
    }
}

fn went_back(now: Option<u64>, earlier: Option<u64>) -> bool {
    matches!((now, earlier), (Some(now), Some(earlier)) if now < earlier)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(tokens: u64) -> TokenUsage {
        TokenUsage { input_tokens: Some(tokens), ..TokenUsage::default() }
    }

    #[test]
    fn repeated_totals_count_once_and_a_reset_begins_anew() {
        let mut counter = Counter::default();
        let counted: Vec<_> =
            [0, 10, 10, 25, 4, 4, 9].map(|total| counter.advance(input(total))).into();
        let expected = [None, Some(10), None, Some(15), Some(4), None, Some(5)];
        assert_eq!(counted, expected.map(|tokens| tokens.map(input)));
    }
}
