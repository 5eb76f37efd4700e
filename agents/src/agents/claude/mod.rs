//! Anthropic's Claude Code: the stream of `claude -p --output-format stream-json`, and session files.

mod action_mapper;
mod markup;
mod messages;
mod notice;
mod result;
pub mod session;
pub mod stream;

use std::collections::VecDeque;

use foldline_domain::{Text, TokenUsage};
use serde::{Deserialize, Serialize};

pub use self::{session::ClaudeSession, stream::ClaudeStream};

/// The number of messages that are remembered. The lines of a message are close together, separated at most by lines of
/// the sub-agents that it started.
const REMEMBERED: usize = 64;

/// The known usage of the latest messages.
///
/// The lines of a message repeat its usage: streams repeat an early snapshot, session files state growing numbers of
/// which the last is correct. In both cases the largest number counts, once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct MessageUsage {
    latest: VecDeque<(Box<str>, TokenUsage)>,
}

impl MessageUsage {
    /// The part of `usage` that is not counted yet for this message. Without an id, every line is a message.
    fn increase(&mut self, message_id: Option<&Text>, usage: TokenUsage) -> Option<TokenUsage> {
        let Some(id) = message_id else { return Some(usage) };
        // Decoded once, since most lines are compared with all remembered ids.
        let id = id.decode();
        if let Some((_, known)) = self.latest.iter_mut().rev().find(|(known, _)| **known == *id) {
            let increase = usage.since(known);
            *known = known.max(&usage);
            return Some(increase).filter(|increase| !increase.is_zero());
        }
        self.latest.push_back((id.into(), usage));
        if self.latest.len() > REMEMBERED {
            self.latest.pop_front();
        }
        Some(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(tokens: u64) -> TokenUsage {
        TokenUsage { output_tokens: Some(tokens), ..TokenUsage::default() }
    }

    #[test]
    fn a_message_counts_once_even_when_others_stand_between_its_lines() {
        let mut messages = MessageUsage::default();
        let (a, b) = (Text::from("a"), Text::from("b"));
        let counted: Vec<_> =
            [(Some(&a), 0), (Some(&a), 3), (Some(&b), 10), (Some(&a), 3), (Some(&a), 8), (None, 1)]
                .into_iter()
                .map(|(id, tokens)| messages.increase(id, output(tokens)))
                .collect();
        let expected = [Some(0), Some(3), Some(10), None, Some(5), Some(1)];
        assert_eq!(counted, expected.map(|tokens| tokens.map(output)));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut messages = MessageUsage::default();
        for n in 0..1000 {
            messages.increase(Some(&Text::from(format!("msg_{n}"))), output(1));
        }
        assert_eq!(messages.latest.len(), REMEMBERED);
    }
}
