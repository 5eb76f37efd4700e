//! OpenAI's Codex CLI: the stream of `codex exec --json`, and its rollout files. Both are written in two notations of
//! names, and count tokens alike.

mod action_mapper;
pub mod exec;
mod output;
mod result;
pub mod rollout;
mod tools;

use std::borrow::Cow;

use foldline_domain::TokenUsage;
use serde::{Deserialize, Serialize};

pub use self::{exec::CodexExec, rollout::CodexRollout};
use crate::wire::Object;

/// The name of the agent in the facts of a session.
const AGENT: &str = "codex";

/// The word in `snake_case`: `codex exec` and rollout files write `in_progress`, the app server writes `inProgress`, and
/// harnesses forward either.
fn snake(word: &str) -> Cow<'_, str> {
    if !word.bytes().any(|b| b.is_ascii_uppercase()) {
        return Cow::Borrowed(word);
    }
    let mut snake = String::with_capacity(word.len() + 4);
    for c in word.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    Cow::Owned(snake)
}

/// The `snake_case` key in camelCase.
fn camel(key: &str) -> String {
    let mut words = key.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut chars = word.chars();
        camel.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        camel.push_str(chars.as_str());
    }
    camel
}

/// Takes the field `key`, given in `snake_case`, in either notation.
fn either<'a, T>(
    object: &mut Object<'a>,
    key: &str,
    take: impl Fn(&mut Object<'a>, &str) -> Option<T>,
) -> Option<T> {
    take(object, key).or_else(|| take(object, &camel(key)))
}

/// Takes the field `key`, a usage object of either format. Its unknown fields stay, as `key.name`.
///
/// `input_tokens` includes cached input, and `output_tokens` includes reasoning (in every captured counter `total_tokens`
/// is the sum of the two), so nothing is added here.
fn take_usage(object: &mut Object<'_>, key: &str) -> Option<TokenUsage> {
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
///
/// Both formats state running totals of the *thread*, never the tokens of one turn: rollout files repeat
/// `total_token_usage` often, and `turn.completed` of `codex exec` copies it. So a resumed thread starts with its earlier
/// usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Counter {
    total: TokenUsage,
    /// Whether it has decreased.
    #[serde(default)]
    decreased: bool,
}

impl Counter {
    /// Sets the current total and returns its increase, if any.
    ///
    /// A smaller total was reset, or estimated after a compaction. From then on, the usage of the `last` request is the
    /// increase, and all of the total if the log does not state that usage.
    fn advance(&mut self, now: TokenUsage, last: Option<TokenUsage>) -> Option<TokenUsage> {
        if went_back(now.input_tokens, self.total.input_tokens)
            || went_back(now.output_tokens, self.total.output_tokens)
        {
            (self.total, self.decreased) = (TokenUsage::default(), true);
        }
        let growth = now.since(&self.total);
        let is_repeated = self.total.max(&now) == self.total;
        self.total = self.total.max(&now);
        let more = last.filter(|_| self.decreased && !is_repeated).unwrap_or(growth);
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

    #[test]
    fn both_spellings_are_one() {
        assert_eq!(snake("inProgress"), "in_progress");
        assert_eq!(snake("CommandExecution"), "command_execution");
        assert_eq!(snake("in_progress"), "in_progress");
        assert_eq!(camel("aggregated_output"), "aggregatedOutput");
        let mut object = Object::parse(r#"{"exitCode":1,"thread_id":"t"}"#).unwrap();
        assert_eq!(either(&mut object, "exit_code", Object::u64), Some(1));
        assert_eq!(either(&mut object, "thread_id", Object::str).as_deref(), Some("t"));
    }

    fn input(tokens: u64) -> TokenUsage {
        TokenUsage { input_tokens: Some(tokens), ..TokenUsage::default() }
    }

    #[test]
    fn repeated_totals_count_once_and_a_reset_begins_anew() {
        let mut counter = Counter::default();
        let counted: Vec<_> =
            [0, 10, 10, 25, 4, 4, 9].map(|total| counter.advance(input(total), None)).into();
        let expected = [None, Some(10), None, Some(15), Some(4), None, Some(5)];
        assert_eq!(counted, expected.map(|tokens| tokens.map(input)));
        counter = Counter::default();
        let counts = [(90, 90), (40, 0), (40, 0), (45, 5), (140, 7)];
        let advance =
            |(total, last)| Counter::advance(&mut counter, input(total), Some(input(last)));
        let expected = [Some(90), None, None, Some(5), Some(7)];
        assert_eq!(counts.map(advance), expected.map(|tokens| tokens.map(input)));
    }
}
