//! The token usage of a message.

use crate::{dialect::usage::with_cache, prelude::*};

/// The terms of a message's price, unless they are the usual ones: `fast`, `priority`, `us`.
pub(super) fn terms(usage: &Object<'_>) -> Option<Text> {
    let stated = |field: &str, unusual: &[&str]| {
        let value = usage.get_str(field)?;
        unusual.contains(&&*value).then(|| value.into_owned())
    };
    let terms = [
        stated("speed", &["fast"]),
        stated("service_tier", &["batch", "flex", "priority"]),
        stated("inference_geo", &["us"]),
    ];
    let terms: Vec<String> = terms.into_iter().flatten().collect();
    (!terms.is_empty()).then(|| terms.join(" ").into())
}

/// Takes the field `usage`. Its unknown fields stay, as `usage.name`.
///
/// `input_tokens` excludes cached input (a run had 29 input tokens and 1,227,349 cached ones), so it is added here.
pub fn take(object: &mut Object<'_>) -> Option<TokenUsage> {
    object.within("usage", |usage| {
        let kept = usage.object("cache_creation");
        let details = usage.object("output_tokens_details");
        usage.ignore(&[
            "cache_creation",
            "inference_geo",
            "iterations",
            "server_tool_use",
            "service_tier",
            "speed",
        ]);
        with_cache(TokenUsage {
            input_tokens: usage.u64("input_tokens"),
            output_tokens: usage.u64("output_tokens"),
            cache_read_tokens: usage.u64("cache_read_input_tokens"),
            cache_write_tokens: usage.u64("cache_creation_input_tokens"),
            cache_write_1h_tokens: kept.and_then(|mut kept| kept.u64("ephemeral_1h_input_tokens")),
            reasoning_tokens: details.and_then(|mut details| details.u64("thinking_tokens")),
            cost_usd: None,
        })
    })
}
