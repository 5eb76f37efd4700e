//! The end of a run: what it cost and how it ended.
//!
//! `result.usage` is the truth about the main conversation. The lines of its messages carry early
//! snapshots whose input is exact and whose output is not, so nothing is reported until the run ends,
//! and the snapshots count only for a run that ends without a `result`. Sub-agents are in neither
//! (the two full runs that this was written from agree to the token); they, and the program's own
//! helpers, are in `modelUsage` and in `total_cost_usd`. So the tokens reported are those of the main
//! conversation, and the cost is that of everything.

use serde::{Deserialize, Serialize};

use super::run_result::RunResult;
use crate::{
    conversation::{Outcome, SessionId, Text, TokenUsage},
    executors::claude::usage::MessageUsage,
};

/// What the runs of a stream cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunUsage {
    messages: MessageUsage,
    /// What the messages since the last `init` or `result` add up to.
    snapshots: TokenUsage,
    /// What those before the last `init` add up to, if no `result` stood between.
    before_init: TokenUsage,
    /// What the last `result` said.
    last: Option<LastResult>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LastResult {
    session_id: Option<SessionId>,
    usage: TokenUsage,
    model_input: Option<u64>,
    cost_usd: Option<f64>,
}

impl RunUsage {
    /// A line states what a message of the main conversation cost so far.
    pub(super) fn note(&mut self, message_id: Option<&Text>, usage: TokenUsage) {
        self.snapshots.add(&self.messages.increase(message_id, usage));
    }

    /// The session begins anew. Whether the next `result` includes what was before, it will show.
    pub(super) fn restart(&mut self) {
        let snapshots = std::mem::take(&mut self.snapshots);
        self.before_init.add(&snapshots);
    }

    /// The session ended without a `result`.
    pub(super) fn take_uncounted(&mut self) -> TokenUsage {
        self.restart();
        std::mem::take(&mut self.before_init)
    }

    /// A run ended with a `result`: what it cost on top of earlier ones.
    pub(super) fn settle(
        &mut self,
        result: &RunResult<'_>,
        session_id: Option<&SessionId>,
    ) -> TokenUsage {
        let before_init = std::mem::take(&mut self.before_init);
        let mut snapshots = std::mem::take(&mut self.snapshots);
        let total = result.usage.unwrap_or(snapshots);
        if goes_on(input_of(&total), input_of(&before_init), input_of(&snapshots)) {
            snapshots.add(&before_init);
            return self.settle_run(result, total, &snapshots, session_id);
        }
        let mut usage = self.settle_run(result, total, &snapshots, session_id);
        usage.add(&before_init);
        usage
    }

    fn settle_run(
        &mut self,
        result: &RunResult<'_>,
        total: TokenUsage,
        snapshots: &TokenUsage,
        session_id: Option<&SessionId>,
    ) -> TokenUsage {
        let (model_input, cost_usd) = (result.model_input, result.cost_usd);
        let now =
            LastResult { session_id: session_id.cloned(), usage: total, model_input, cost_usd };
        let last = self.last.replace(now).filter(|last| last.session_id.as_ref() == session_id);
        let Some(last) = last else { return TokenUsage { cost_usd, ..total } };
        let run = input_of(snapshots);
        let tokens_go_on =
            result.usage.is_some() && goes_on(input_of(&total), input_of(&last.usage), run);
        let cost_goes_on = match (model_input, last.model_input) {
            (Some(now), Some(last)) => goes_on(now, last, run),
            _ => tokens_go_on,
        };
        let usage = if tokens_go_on { total.since(&last.usage) } else { total };
        let spent = match last.cost_usd.filter(|_| cost_goes_on) {
            Some(before) => cost_usd.map(|cost| (cost - before).max(0.0)),
            None => cost_usd,
        };
        TokenUsage { cost_usd: spent, ..usage }
    }
}

fn input_of(usage: &TokenUsage) -> u64 {
    usage.input_tokens.unwrap_or(0)
}

/// Whether a counter of a second `result` includes that of the first: then it is nearer to the sum of
/// what was before and what this run's messages state than to the latter alone.
fn goes_on(now: u64, before: u64, run: u64) -> bool {
    now.abs_diff(before.saturating_add(run)) < now.abs_diff(run)
}

/// How a run ended. `is_error` decides; the subtype only tells limits from other ends.
pub(super) fn outcome_of(result: &RunResult<'_>) -> Outcome {
    let subtype = result.subtype.as_ref().map(Text::decode).unwrap_or_default();
    let failed = result.is_error.unwrap_or(!subtype.is_empty() && subtype != "success");
    match failed {
        _ if subtype.starts_with("error_max_") => Outcome::LimitReached,
        true => Outcome::Failed,
        false => Outcome::Success,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(tokens: u64) -> TokenUsage {
        TokenUsage { input_tokens: Some(tokens), ..TokenUsage::default() }
    }

    fn result(tokens: u64, model_input: u64, cost: f64) -> RunResult<'static> {
        RunResult {
            usage: Some(input(tokens)),
            model_input: Some(model_input),
            cost_usd: Some(cost),
            ..RunResult::default()
        }
    }

    fn cost(usage: TokenUsage) -> (u64, f64) {
        (usage.input_tokens.unwrap(), usage.cost_usd.unwrap())
    }

    #[test]
    fn a_second_result_counts_what_it_adds() {
        let session = SessionId::from("s");
        let mut run = RunUsage::default();
        run.note(Some(&"a".into()), input(100));
        assert_eq!(cost(run.settle(&result(100, 120, 1.0), Some(&session))), (100, 1.0));
        // Its own tokens, but the cost of both.
        run.note(Some(&"b".into()), input(150));
        assert_eq!(cost(run.settle(&result(150, 280, 2.5), Some(&session))), (150, 1.5));
        // Everything of all three.
        run.note(Some(&"c".into()), input(50));
        assert_eq!(cost(run.settle(&result(205, 340, 3.0), Some(&session))), (55, 0.5));
        // Another session begins from nothing.
        let other = SessionId::from("t");
        assert_eq!(cost(run.settle(&result(300, 400, 3.5), Some(&other))), (300, 3.5));
    }

    #[test]
    fn without_a_result_the_snapshots_count_once() {
        let mut run = RunUsage::default();
        run.note(Some(&"a".into()), input(100));
        run.note(Some(&"b".into()), input(10));
        run.note(Some(&"a".into()), input(100));
        assert_eq!(run.take_uncounted(), input(110));
        assert!(run.take_uncounted().is_empty());
    }

    #[test]
    fn a_session_may_begin_anew_within_a_run_or_between_two() {
        let before_and_after = |total: u64| {
            let mut run = RunUsage::default();
            run.note(Some(&"a".into()), input(100));
            run.restart();
            run.note(Some(&"b".into()), input(30));
            run.settle(&result(total, total, 1.0), None).input_tokens
        };
        assert_eq!(before_and_after(130), Some(130));
        assert_eq!(before_and_after(30), Some(130));
    }

    #[test]
    fn the_flag_decides_not_the_subtype() {
        let outcome = |subtype: &str, is_error| {
            let subtype = Some(Text::from(subtype));
            outcome_of(&RunResult { subtype, is_error, ..RunResult::default() })
        };
        assert_eq!(outcome("success", Some(true)), Outcome::Failed);
        assert_eq!(outcome("success", Some(false)), Outcome::Success);
        assert_eq!(outcome("error_max_turns", Some(false)), Outcome::LimitReached);
        assert_eq!(outcome("error_max_turns", Some(true)), Outcome::LimitReached);
        assert_eq!(outcome("error_during_execution", None), Outcome::Failed);
        assert_eq!(outcome("success", None), Outcome::Success);
    }
}
