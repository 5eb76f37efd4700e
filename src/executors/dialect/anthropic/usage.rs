//! The tokens that a message used.

use crate::{conversation::TokenUsage, executors::wire::Object};

/// Takes the field `usage`. What that has beyond the known fields stays, as `usage.name`.
///
/// Cached input is counted apart from `input_tokens` (a run of 29 input tokens had read 1,227,349
/// from the cache), so it is added here.
pub(crate) fn take(object: &mut Object<'_>) -> Option<TokenUsage> {
    let mut usage = object.object("usage")?;
    let cache_read = usage.u64("cache_read_input_tokens");
    let cache_write = usage.u64("cache_creation_input_tokens");
    let details = usage.object("output_tokens_details");
    let read = TokenUsage {
        input_tokens: usage.u64("input_tokens").map(|input| {
            input.saturating_add(cache_read.unwrap_or(0)).saturating_add(cache_write.unwrap_or(0))
        }),
        output_tokens: usage.u64("output_tokens"),
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        reasoning_tokens: details.and_then(|mut details| details.u64("thinking_tokens")),
        cost_usd: None,
    };
    usage.ignore(&[
        "cache_creation",
        "inference_geo",
        "iterations",
        "server_tool_use",
        "service_tier",
        "speed",
    ]);
    object.adopt("usage", usage);
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_is_input() {
        let usage = r#"{"usage":{"input_tokens":2,"cache_read_input_tokens":30,"cache_creation_input_tokens":400,"output_tokens":5,"output_tokens_details":{"thinking_tokens":4},"speed":"x","novel":1}}"#;
        let mut message = Object::parse(usage).unwrap();
        let read = take(&mut message).unwrap();
        let unknown = message.rest();
        assert_eq!(read.input_tokens, Some(432));
        assert_eq!(read.cache_read_tokens, Some(30));
        assert_eq!(read.cache_write_tokens, Some(400));
        assert_eq!((read.output_tokens, read.reasoning_tokens), (Some(5), Some(4)));
        assert_eq!(unknown.len(), 1);
        assert_eq!(unknown[0].0, "usage.novel");
    }
}
