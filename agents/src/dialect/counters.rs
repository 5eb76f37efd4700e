//! Token counters, whose names and meaning depend on the agent.

use foldline_domain::TokenUsage;

use crate::wire::Object;

/// Takes the counters of these names: input, output, cache reads, cache writes and reasoning.
pub fn take_counters(stated: &mut Object<'_>, names: [&str; 5]) -> TokenUsage {
    let [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens] =
        names.map(|name| stated.u64(name));
    TokenUsage {
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        reasoning_tokens,
        ..TokenUsage::default()
    }
}

/// Adds cached input to the input, for agents that count it separately.
pub fn with_cache(apart: TokenUsage) -> TokenUsage {
    let cached = [apart.cache_read_tokens, apart.cache_write_tokens].into_iter().flatten();
    let input_tokens = apart.input_tokens.map(|input| cached.fold(input, u64::saturating_add));
    TokenUsage { input_tokens, ..apart }
}
