//! Token counters of Droid.

use foldline_domain::TokenUsage;

use crate::{
    dialect::counters::{take_counters, with_cache},
    wire::Object,
};

/// The names of the counters in newer releases: input, output, read from and written to a cache, and reasoning.
const NAMES: [&str; 5] =
    ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens", "thinkingTokens"];

/// Takes the counters of these names. Droid counts cached input separately (a session had 6,743 input tokens and 42,496
/// cached ones), so it is added here.
pub(super) fn take(usage: &mut Object<'_>, names: [&str; 5]) -> TokenUsage {
    with_cache(take_counters(usage, names))
}

/// Takes a field such as `tokenUsage`.
pub(super) fn take_field(object: &mut Object<'_>, field: &str) -> Option<TokenUsage> {
    object.within(field, |usage| {
        // The cost in Droid's own unit.
        usage.ignore(&["factoryCredits"]);
        take(usage, NAMES)
    })
}
