//! The end of a run: its record, its usage, cost and outcome.
//!
//! A `result` has the exact numbers. Its `modelUsage` states usage and cost by model, including sub-agents and helper
//! models; its `usage` covers only the main conversation and is used if `modelUsage` is missing. The lines of messages
//! have early snapshots with exact input but inexact output. So nothing is reported until the run ends, and snapshots
//! count only for messages that no `result` includes.

use serde::{Deserialize, Serialize};

use crate::{
    claude::MessageUsage,
    dialect::anthropic::{Denial, take_usage},
    prelude::*,
};

/// Tokens by model; `None` is the session's model.
pub(super) type ByModel = Vec<(Option<Text>, TokenUsage)>;

/// The usage of the runs of a stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunUsage {
    messages: MessageUsage,
    /// The sum of the main conversation's messages since the last `init` or `result`.
    snapshots: TokenUsage,
    /// The sum of its messages before the last `init`, if no `result` came in between.
    before_init: TokenUsage,
    /// The sum of the sub-agents' messages since the last `result`.
    agents: ByModel,
    /// The time of the latest message.
    noted_at: Option<Timestamp>,
    /// The last `result`.
    last: LastResult,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LastResult {
    session_id: Option<SessionId>,
    usage: TokenUsage,
    models: Vec<(Text, TokenUsage)>,
    cost_usd: Option<f64>,
}

impl RunUsage {
    /// Records the usage so far of a message of the main conversation.
    pub(super) fn note(
        &mut self,
        message_id: Option<&Text>,
        usage: TokenUsage,
        at: Option<Timestamp>,
    ) {
        self.noted_at = at.or(self.noted_at);
        let more = self.messages.increase(message_id, usage);
        self.snapshots.add(&more.unwrap_or_default());
    }

    /// Records the usage so far of a message of a sub-agent.
    pub(super) fn note_agent(
        &mut self,
        message_id: Option<&Text>,
        model: Option<&Text>,
        usage: TokenUsage,
        at: Option<Timestamp>,
    ) {
        self.noted_at = at.or(self.noted_at);
        let Some(more) = self.messages.increase(message_id, usage) else { return };
        match self.agents.iter_mut().find(|(known, _)| known.as_ref() == model) {
            Some((_, total)) => total.add(&more),
            None => self.agents.push((model.cloned(), more)),
        }
    }

    /// Restarts the session. The next `result` shows whether it includes the earlier usage.
    pub(super) fn restart(&mut self) {
        let snapshots = std::mem::take(&mut self.snapshots);
        self.before_init.add(&snapshots);
    }

    /// Takes the usage of a session that ended without a `result`, with the time of its last message.
    pub(super) fn take_uncounted(&mut self) -> (ByModel, Option<Timestamp>) {
        self.restart();
        let mut uncounted = std::mem::take(&mut self.agents);
        uncounted.insert(0, (None, std::mem::take(&mut self.before_init)));
        (uncounted, self.noted_at)
    }

    /// The usage of a run that ended with a `result`, in addition to earlier runs.
    pub(super) fn settle(
        &mut self,
        result: &RunResult<'_>,
        session_id: Option<&SessionId>,
    ) -> ByModel {
        let before_init = std::mem::take(&mut self.before_init);
        let mut snapshots = std::mem::take(&mut self.snapshots);
        let agents = std::mem::take(&mut self.agents);
        let total = result.usage.unwrap_or(snapshots);
        let is_included = goes_on(input_of(&total), input_of(&before_init), input_of(&snapshots));
        if is_included {
            snapshots.add(&before_init);
        }
        let RunResult { models, cost_usd, .. } = result;
        let now = LastResult {
            session_id: session_id.cloned(),
            usage: total,
            models: models.clone(),
            cost_usd: *cost_usd,
        };
        let mut last = std::mem::replace(&mut self.last, now);
        if last.session_id.as_ref() != session_id {
            last = LastResult::default();
        }
        let run = input_of(&snapshots);
        let usage_goes_on =
            result.usage.is_some() && goes_on(input_of(&total), input_of(&last.usage), run);
        // The cost covers all models.
        let cost_goes_on = match (models.is_empty(), last.models.is_empty()) {
            (false, false) => {
                goes_on(input_of_all(models), input_of_all(&last.models), run)
                    && !went_back(models, &last.models)
            }
            _ => usage_goes_on,
        };
        let mut main = if usage_goes_on { total.since(&last.usage) } else { total };
        main.cost_usd = match last.cost_usd.filter(|_| cost_goes_on) {
            Some(before) => cost_usd.map(|cost| (cost - before).max(0.0)),
            None => *cost_usd,
        };
        let mut used = match models.is_empty() {
            true => [vec![(None, main)], agents].concat(),
            false => {
                let before = if cost_goes_on { last.models } else { Vec::new() };
                by_model(models, &before, &main)
            }
        };
        if !is_included {
            used.push((None, before_init));
        }
        used
    }
}

/// The usage of each model since `before`. Values that are stated only for the whole run, such as reasoning and the
/// cost in old releases, belong to the session's model.
fn by_model(
    now: &[(Text, TokenUsage)],
    before: &[(Text, TokenUsage)],
    main: &TokenUsage,
) -> ByModel {
    let since_before = |(model, now): &(Text, TokenUsage)| match before_of(model, before) {
        Some(before) => {
            let more = now.since(before);
            (!more.is_zero()).then(|| (Some(model.clone()), more))
        }
        None => Some((Some(model.clone()), *now)),
    };
    let mut used: ByModel = now.iter().filter_map(since_before).collect();
    let is_stated = |stated: fn(&TokenUsage) -> bool| now.iter().any(|(_, usage)| stated(usage));
    let of_the_whole = TokenUsage {
        reasoning_tokens: main
            .reasoning_tokens
            .filter(|_| !is_stated(|usage| usage.reasoning_tokens.is_some())),
        cost_usd: main.cost_usd.filter(|_| !is_stated(|usage| usage.cost_usd.is_some())),
        ..TokenUsage::default()
    };
    used.push((None, of_the_whole));
    used
}

fn before_of<'b>(model: &Text, before: &'b [(Text, TokenUsage)]) -> Option<&'b TokenUsage> {
    before.iter().find(|(known, _)| known == model).map(|(_, usage)| usage)
}

/// Whether a model used less than before, so that the counter was reset.
fn went_back(now: &[(Text, TokenUsage)], before: &[(Text, TokenUsage)]) -> bool {
    before.iter().any(|(model, before)| {
        before_of(model, now).is_none_or(|now| now.input_tokens < before.input_tokens)
    })
}

fn input_of_all(models: &[(Text, TokenUsage)]) -> u64 {
    models.iter().fold(0, |sum, (_, usage)| sum.saturating_add(input_of(usage)))
}

fn input_of(usage: &TokenUsage) -> u64 {
    usage.input_tokens.unwrap_or(0)
}

/// Whether the counter of a second `result` continues that of the first: it is then nearer to the sum of the previous
/// value and this run's messages than to the messages alone.
fn goes_on(now: u64, before: u64, run: u64) -> bool {
    now.abs_diff(before.saturating_add(run)) < now.abs_diff(run)
}

/// The outcome of a run. `is_error` decides; the subtype only distinguishes limits from other ends.
pub(super) fn outcome_of(result: &RunResult<'_>) -> Outcome {
    let subtype = result.subtype.as_ref().map(Text::decode).unwrap_or_default();
    let failed = result.is_error.unwrap_or(!subtype.is_empty() && subtype != "success");
    match failed {
        _ if subtype.starts_with("error_max_") => Outcome::LimitReached,
        true => Outcome::Failed,
        false => Outcome::Success,
    }
}

/// The end of a run.
#[derive(Clone, Debug, Default)]
pub struct RunResult<'a> {
    /// `success`, `error_max_turns`, `error_during_execution`, ...
    pub subtype: Option<Text>,
    /// Whether the run failed. The subtype does not determine it.
    pub is_error: Option<bool>,
    /// Usually repeats the agent's last words.
    pub result: Option<Text>,
    pub errors: Vec<Text>,
    pub duration_ms: Option<u64>,
    pub turns: Option<u64>,
    /// Tokens of the main conversation, without sub-agents.
    pub usage: Option<TokenUsage>,
    /// Tokens and cost by model, including sub-agents and helper models, if stated.
    pub models: Vec<(Text, TokenUsage)>,
    /// The cost in US dollars of all models, including sub-agents and helper models.
    pub cost_usd: Option<f64>,
    pub denials: Vec<Denial<'a>>,
    /// `completed`, `max_turns`, `api_error`.
    pub terminal_reason: Option<Text>,
}

impl<'a> RunResult<'a> {
    pub(super) fn take(object: &mut Object<'a>) -> Self {
        let subtype = object.text("subtype");
        let models = take_models(object);
        object.ignore(&[
            "api_error_status",
            "duration_api_ms",
            "fast_mode_disabled_reason",
            "fast_mode_state",
            "first_content_frame_ms",
            "queued_turn_count",
            "result_index",
            "stop_reason",
            "structured_output",
            "subagent_stats",
            "time_to_request_ms",
            "ttft_ms",
            "ttft_stream_ms",
        ]);
        Self {
            subtype,
            is_error: object.bool("is_error"),
            result: object.text("result"),
            errors: object
                .array("errors")
                .unwrap_or_default()
                .into_iter()
                .map(value::into_text)
                .collect(),
            duration_ms: object.u64("duration_ms"),
            turns: object.u64("num_turns"),
            usage: take_usage(object),
            models,
            cost_usd: object.f64("total_cost_usd"),
            denials: Denial::take_all(object),
            terminal_reason: object.text("terminal_reason"),
        }
    }
}

/// Takes `modelUsage`: `{model: {inputTokens, ..}}`. As elsewhere, cached input is counted separately.
pub(in crate::agents::claude) fn take_models(object: &mut Object<'_>) -> Vec<(Text, TokenUsage)> {
    let models = object.object("modelUsage").map(Object::rest).unwrap_or_default();
    let mut read = Vec::new();
    for (name, raw) in models {
        let Some(mut model) = value::object(raw) else { continue };
        let cache_read = model.u64("cacheReadInputTokens");
        let cache_write = model.u64("cacheCreationInputTokens");
        let input = [model.u64("inputTokens"), cache_read, cache_write].into_iter().flatten();
        let usage = TokenUsage {
            input_tokens: input.reduce(u64::saturating_add),
            output_tokens: model.u64("outputTokens"),
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            reasoning_tokens: model.u64("thinkingTokens"),
            cost_usd: model.f64("costUSD"),
            ..TokenUsage::default()
        };
        model.ignore(&["canonicalModel", "contextWindow", "costBasis", "maxOutputTokens"]);
        model.ignore(&["provider", "webSearchRequests"]);
        // Some logs also repeat the fields of `usage` under their names there.
        model.ignore(&["input_tokens", "output_tokens", "service_tier"]);
        object.adopt("modelUsage", model);
        if !usage.is_empty() {
            read.push((Text::from(name), usage));
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(tokens: u64) -> TokenUsage {
        TokenUsage { input_tokens: Some(tokens), ..TokenUsage::default() }
    }

    fn result(tokens: u64, model_input: u64, cost: f64) -> RunResult<'static> {
        let usage = TokenUsage { cost_usd: Some(cost), ..input(model_input) };
        RunResult {
            usage: Some(input(tokens)),
            models: vec![("m".into(), usage)],
            cost_usd: Some(cost),
            ..RunResult::default()
        }
    }

    fn sum(used: &ByModel) -> TokenUsage {
        let mut sum = TokenUsage::default();
        used.iter().for_each(|(_, usage)| sum.add(usage));
        sum
    }

    fn cost(used: &ByModel) -> (u64, f64) {
        let sum = sum(used);
        (sum.input_tokens.unwrap(), sum.cost_usd.unwrap())
    }

    #[test]
    fn a_second_result_counts_what_it_adds() {
        let session = SessionId::from("s");
        let mut run = RunUsage::default();
        run.note(Some(&"a".into()), input(100), None);
        assert_eq!(cost(&run.settle(&result(100, 120, 1.0), Some(&session))), (120, 1.0));
        // The tokens of this run, but the models and the cost of both runs.
        run.note(Some(&"b".into()), input(150), None);
        assert_eq!(cost(&run.settle(&result(150, 280, 2.5), Some(&session))), (160, 1.5));
        // All values of all three runs.
        run.note(Some(&"c".into()), input(50), None);
        assert_eq!(cost(&run.settle(&result(205, 340, 3.0), Some(&session))), (60, 0.5));
        // Another session starts from zero.
        let other = SessionId::from("t");
        assert_eq!(cost(&run.settle(&result(300, 400, 3.5), Some(&other))), (400, 3.5));
    }

    #[test]
    fn without_a_result_the_snapshots_count_once() {
        let mut run = RunUsage::default();
        run.note(Some(&"a".into()), input(100), None);
        run.note(Some(&"b".into()), input(10), None);
        run.note(Some(&"a".into()), input(100), None);
        assert_eq!(sum(&run.take_uncounted().0), input(110));
        assert!(sum(&run.take_uncounted().0).is_empty());
    }

    #[test]
    fn a_session_may_begin_anew_within_a_run_or_between_two() {
        let before_and_after = |total: u64| {
            let mut run = RunUsage::default();
            run.note(Some(&"a".into()), input(100), None);
            run.restart();
            run.note(Some(&"b".into()), input(30), None);
            sum(&run.settle(&result(total, total, 1.0), None)).input_tokens
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
