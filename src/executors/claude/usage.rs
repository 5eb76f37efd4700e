//! What a message cost, counted once however often the log says it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{
    conversation::{Text, TokenUsage},
    executors::wire::Object,
};

/// Takes the field `usage`. What that has beyond the known fields stays, as `usage.name`.
///
/// Claude counts cached input apart from `input_tokens` (a run of 29 input tokens had read 1,227,349
/// from the cache), so it is added here.
pub(super) fn take(object: &mut Object<'_>) -> Option<TokenUsage> {
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

/// How many messages are remembered. The lines of one message stand close together; between them
/// stand at most the lines of the sub-agents that it started.
const REMEMBERED: usize = 64;

/// What the latest messages are known to have cost.
///
/// The lines of one message repeat its usage: in streams the same early snapshot, in session files
/// growing numbers whose last are the true ones. Either way the largest counts, once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct MessageUsage {
    latest: VecDeque<(Text, TokenUsage)>,
}

impl MessageUsage {
    /// What of `usage` was not yet counted for this message. Without an id every line is a message.
    pub(super) fn news(&mut self, message_id: Option<&Text>, usage: TokenUsage) -> TokenUsage {
        let Some(id) = message_id else { return usage };
        if let Some((_, known)) = self.latest.iter_mut().rev().find(|(known, _)| known == id) {
            let news = usage.since(known);
            *known = known.max(&usage);
            return news;
        }
        self.latest.push_back((id.clone(), usage));
        if self.latest.len() > REMEMBERED {
            self.latest.pop_front();
        }
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(tokens: u64) -> TokenUsage {
        TokenUsage { output_tokens: Some(tokens), ..TokenUsage::default() }
    }

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

    #[test]
    fn a_message_counts_once_even_when_others_stand_between_its_lines() {
        let mut messages = MessageUsage::default();
        let (a, b) = (Text::from("a"), Text::from("b"));
        let counted: Vec<_> =
            [(Some(&a), 3), (Some(&b), 10), (Some(&a), 3), (Some(&a), 8), (None, 1)]
                .into_iter()
                .map(|(id, tokens)| messages.news(id, output(tokens)).output_tokens.unwrap())
                .collect();
        assert_eq!(counted, [3, 10, 0, 5, 1]);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut messages = MessageUsage::default();
        for n in 0..1000 {
            messages.news(Some(&Text::from(format!("msg_{n}"))), output(1));
        }
        assert_eq!(messages.latest.len(), REMEMBERED);
    }
}
