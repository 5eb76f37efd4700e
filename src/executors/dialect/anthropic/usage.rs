//! The tokens that a message used.

use crate::{
    conversation::TokenUsage,
    executors::{dialect::counters::with_cache, wire::Object},
};

/// Takes the field `usage`. What that has beyond the known fields stays, as `usage.name`.
///
/// Cached input is counted apart from `input_tokens` (a run of 29 input tokens had read 1,227,349
/// from the cache), so it is added here.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_is_input() {
        let usage = r#"{"usage":{"input_tokens":2,"cache_read_input_tokens":30,"cache_creation_input_tokens":400,"cache_creation":{"ephemeral_1h_input_tokens":300,"ephemeral_5m_input_tokens":100},"output_tokens":5,"output_tokens_details":{"thinking_tokens":4},"speed":"x","novel":1}}"#;
        let mut message = Object::parse(usage).unwrap();
        let read = take(&mut message).unwrap();
        let unknown = message.rest();
        assert_eq!(read.input_tokens, Some(432));
        assert_eq!(read.cache_read_tokens, Some(30));
        assert_eq!((read.cache_write_tokens, read.cache_write_1h_tokens), (Some(400), Some(300)));
        assert_eq!((read.output_tokens, read.reasoning_tokens), (Some(5), Some(4)));
        assert_eq!(unknown.len(), 1);
        assert_eq!(unknown[0].0, "usage.novel");
    }
}
