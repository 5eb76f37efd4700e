//! [`UsageTotals`]: the tokens and costs of all sessions of a store.

use std::collections::BTreeMap;

use foldline_domain::{Timestamp, TokenUsage, pricing::Cost};
use serde::{Deserialize, Serialize};

use super::{
    convention::{AGENT_NAME, provider_of},
    metrics::{Metrics, Model},
    signal::{Attributes, Interval, Moment, Signal, Temporality},
};

/// The tokens and costs of all sessions of a store, by agent and model. A store counts a message once that several logs
/// contain, as those of a fork do, which the emitter of one session cannot know: see
/// [`Otlp::without_usage_points`](super::Otlp::without_usage_points).
///
/// The totals are recounted each time; those of the last time, which are serialised, tell which points are new.
///
/// ```
/// use foldline_domain::{Timestamp, TokenUsage};
/// use foldline_otlp::{Temporality, UsageTotals};
///
/// let mut totals = UsageTotals::default();
/// let tokens = TokenUsage { input_tokens: Some(200), ..TokenUsage::default() };
/// let at = Timestamp::from_millis(1_000);
/// totals.count("droid", Some("claude-sonnet-4-5"), &tokens, None, Some(at));
/// let points = totals.points(&UsageTotals::default(), at, Temporality::Cumulative);
/// assert_eq!(points.len(), 1);
/// assert!(totals.clone().points(&totals, at, Temporality::Cumulative).is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageTotals {
    agents: BTreeMap<String, Metrics>,
    /// The times of the messages.
    used: Interval,
    /// When the series began, and when the last points were made.
    made: Option<(Timestamp, Timestamp)>,
}

impl UsageTotals {
    /// Counts the tokens of a message, or of several, and their cost in US dollars. An agent without a name is empty.
    pub fn count(
        &mut self,
        agent: &str,
        model: Option<&str>,
        usage: &TokenUsage,
        cost: Option<Cost>,
        at: Option<Timestamp>,
    ) {
        let known = Some(agent).filter(|agent| !agent.is_empty());
        let of = Model { provider: provider_of(model, known), model: model.map(str::to_owned) };
        self.used.include(at);
        let metrics = self.agents.entry(agent.to_owned()).or_default();
        metrics.count_tokens(&of, usage);
        cost.into_iter().for_each(|cost| metrics.count_cost(&of, cost));
    }

    /// When the last points were made.
    pub fn made_at(&self) -> Option<Timestamp> {
        self.made.map(|(_, made)| made)
    }

    /// A data point, made now, of each series that differs from the earlier totals. A series begins with the first message
    /// of the first totals; one that counts less than before, since logs were forgotten, begins again.
    pub fn points(
        &mut self,
        before: &Self,
        now: Timestamp,
        temporality: Temporality,
    ) -> Vec<Signal> {
        let first = self.used.first().unwrap_or(now).min(now);
        let (begun, last) = before.made.map_or((first, None), |(begun, last)| (begun, Some(last)));
        self.made = Some((begun, now));
        let Some((begun, now)) = Moment::of(begun).zip(Moment::of(now)) else { return Vec::new() };
        let mut points = Vec::new();
        for (agent, metrics) in &mut self.agents {
            let name = Some(agent.as_str()).filter(|agent| !agent.is_empty());
            let common = Attributes::default().with_known(AGENT_NAME, name);
            let known = before.agents.get(agent).zip(last);
            points.extend(metrics.points_since(known, begun, now, temporality, &common));
        }
        points
    }
}
