//! Alibaba's Qwen Code: the stream of `qwen -o stream-json`, `-o json`, and its session files.
//!
//! The stream resembles that of Claude Code. The session files and the tools are those of Gemini CLI, from which it was
//! forked.

mod session;
mod stream;

pub use self::{session::QwenSession, stream::Qwen};
use crate::prelude::*;

/// The prefix of the result of a denied call.
const REFUSED: &str = "Qwen Code requires permission to use ";

/// The prefix of the result of a cancelled call.
const CANCELLED: &str = "[Operation Cancelled] Reason: ";

/// The status of a call that failed with this text.
fn status_of_failure(words: Option<&Text>) -> ToolStatus {
    let Some(words) = words else { return ToolStatus::Failed };
    let text = words.decode();
    let reason = text.strip_prefix(CANCELLED);
    let is_refused = reason.is_some_and(|reason| {
        reason.to_ascii_lowercase().contains("denied") || reason.contains("did not allow")
    });
    match reason {
        _ if is_refused || text.starts_with(REFUSED) => {
            ToolStatus::Denied { reason: Some(words.clone()) }
        }
        Some(_) => ToolStatus::Cancelled,
        None => ToolStatus::Failed,
    }
}

/// Takes the counters of these names: input, output, cached input, reasoning and total.
///
/// The input includes cached input. The output includes reasoning, unless the total shows that it is counted
/// separately, since providers differ.
fn take_counters(stated: &mut Object<'_>, fields: [&str; 5]) -> TokenUsage {
    let [input, output, cache_read_tokens, reasoning, total] =
        fields.map(|field| stated.u64(field));
    let answered = input.zip(output).map(|(input, output)| input.saturating_add(output));
    let beyond = total.zip(answered).and_then(|(total, answered)| total.checked_sub(answered));
    let apart = reasoning.filter(|reasoning| beyond.is_some_and(|beyond| beyond >= *reasoning));
    TokenUsage {
        input_tokens: input,
        output_tokens: output.map(|output| output.saturating_add(apart.unwrap_or(0))),
        cache_read_tokens,
        reasoning_tokens: reasoning,
        ..TokenUsage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_mean_no() {
        let name = |words: &str| status_of_failure(Some(&words.into())).name();
        assert_eq!(name("Qwen Code requires permission to use \"edit\", but ..."), "denied");
        assert_eq!(name("[Operation Cancelled] Reason: User denied execution."), "denied");
        assert_eq!(name("[Operation Cancelled] Reason: User did not allow tool call"), "denied");
        assert_eq!(name("[Operation Cancelled] Reason: Aborted"), "cancelled");
        assert_eq!(name("permission denied: /etc/shadow"), "failed");
        assert_eq!(status_of_failure(None), ToolStatus::Failed);
    }

    #[test]
    fn reasoning_is_output_once() {
        for (stated, output) in [
            (r#""reasoning":25,"total":134,"#, 34),
            (r#""reasoning":25,"total":159,"#, 59),
            (r#""reasoning":25,"#, 34),
            (r#""total":500,"#, 34),
        ] {
            let stated = format!(r#"{{{stated}"input":100,"output":34}}"#);
            let mut object = Object::parse(&stated).unwrap();
            let usage =
                take_counters(&mut object, ["input", "output", "cached", "reasoning", "total"]);
            assert_eq!((usage.input_tokens, usage.output_tokens), (Some(100), Some(output)));
        }
    }
}
