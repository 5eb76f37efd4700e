//! `cost-state`: the cost of a run of the program so far, as the program itself counts it.
//!
//! A record covers a window, from the start of the run to the record. Its cost includes requests that no transcript has,
//! such as those to helper models. The records of a window repeat a growing total, so each counts its increase. Messages
//! state tokens but no cost, which consumers estimate, and an event cannot be taken back. So a record adds, with the sum
//! that the log states:
//!
//! - to each message of the window a stated cost of zero, under the message's own id, model and time, so that it is not
//!   estimated: its cost is part of the window's. Messages outside of every window keep their estimate.
//! - for each model, the cost of the window and the tokens that no message stated, under an identity made of the start of
//!   the run. A copy of the records in another file has the same identity, and the copy that states more counts once, with
//!   all its models.
//!
//! The cost also includes sub-agents, whose messages are in other files, and cannot be marked from here: the identity
//! ([`OF_WINDOW`]) says which time the cost is that of, and consumers that have those files do not estimate them. Their
//! tokens are counted there, so a window with sub-agents adds its cost only.

use std::collections::{BTreeMap, VecDeque};

use foldline_domain::OF_WINDOW;
use serde::{Deserialize, Serialize};

use crate::{claude::stream::take_models, prelude::*};

/// The first release that writes these records. Messages of earlier ones need not be remembered.
const FIRST_RELEASE: [u32; 3] = [2, 1, 250];

/// The number of messages that are remembered between two records.
const MOST_MESSAGES: usize = 1024;

/// The number of runs that are remembered. A file has one, and a further one for each time that it was resumed.
const MOST_RUNS: usize = 8;

/// A `cost-state` record.
#[derive(Clone, Debug)]
pub struct CostState {
    /// The start of the run, which identifies it.
    start: Timestamp,
    /// The cost of all models in US dollars.
    cost_usd: Option<f64>,
    /// Tokens and cost by model.
    models: Vec<(Text, TokenUsage)>,
    /// Whether the cost of a model is unknown.
    is_floor: bool,
}

impl CostState {
    /// Takes a record; `None` without a start.
    pub(super) fn take(object: &mut Object<'_>) -> Option<Self> {
        let start = object.timestamp("startTime")?;
        object.ignore(&["totalAPIDuration", "totalAPIDurationWithoutRetries", "totalDuration"]);
        object.ignore(&["totalLinesAdded", "totalLinesRemoved", "totalToolDuration"]);
        Some(Self {
            start,
            cost_usd: object.f64("totalCostUSD"),
            models: take_models(object),
            is_floor: object.bool("hasUnknownModelCost").unwrap_or(false),
        })
    }
}

/// Usage with its identity, to be emitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StatedUsage {
    pub(super) message_id: Option<Text>,
    pub(super) model: Option<Text>,
    pub(super) at: Option<Timestamp>,
    pub(super) usage: TokenUsage,
}

/// The costs of the runs of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunCosts {
    /// The messages since the last record, oldest first.
    messages: VecDeque<StatedUsage>,
    /// Whether older ones were forgotten.
    is_partial: bool,
    /// The runs by their start, the latest last.
    runs: VecDeque<(Timestamp, BTreeMap<String, ModelCost>)>,
    /// The last start of a sub-agent.
    agent_at: Option<Timestamp>,
    /// The time of the last record that states one, at which a window ends.
    pub(super) at: Option<Timestamp>,
}

/// What a run used of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ModelCost {
    /// The tokens that messages stated.
    messages: TokenUsage,
    /// The cost, and the tokens that no message stated.
    counted: TokenUsage,
}

impl RunCosts {
    /// Remembers the usage of a message that was emitted.
    pub(super) fn note(&mut self, used: StatedUsage, version: Option<&Text>) {
        let version = version.map(Text::decode).unwrap_or_default();
        let release: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
        if release[..] < FIRST_RELEASE[..] {
            return;
        }
        self.messages.push_back(used);
        if self.messages.len() > MOST_MESSAGES {
            self.messages.pop_front();
            self.is_partial = true;
        }
    }

    /// Records the start of a sub-agent.
    pub(super) fn note_agent(&mut self, at: Option<Timestamp>) {
        self.agent_at = Some(at.unwrap_or(Timestamp::from_millis(i64::MAX)));
    }

    /// The usage that a record adds.
    pub(super) fn settle(&mut self, state: CostState) -> Vec<StatedUsage> {
        let CostState { start, cost_usd, mut models, is_floor } = state;
        let mut messages = std::mem::take(&mut self.messages);
        messages.retain(|message| message.at.is_none_or(|at| at >= start));
        let is_partial = std::mem::take(&mut self.is_partial);
        let is_alone = self.agent_at.is_none_or(|at| at < start);
        // The cost of models that are not listed.
        let listed: f64 = models.iter().filter_map(|(_, total)| total.cost_usd).sum();
        if let Some(rest) = cost_usd.map(|cost| cost - listed).filter(|rest| *rest > 1e-6) {
            let rest = TokenUsage { cost_usd: Some(rest), ..TokenUsage::default() };
            models.push((Text::default(), rest));
        }
        let names: Vec<_> = models.iter().map(|(model, _)| base(Some(model))).collect();
        let (at, run) = (self.at, self.run(start));
        let mut stated = Vec::new();
        for ((_, total), name) in models.iter().zip(&names) {
            let is_of_it = |message: &&StatedUsage| {
                let of = base(message.model.as_ref());
                if name.is_empty() { !names.contains(&of) || of.is_empty() } else { of == *name }
            };
            let of_it: Vec<_> = messages.iter().filter(is_of_it).collect();
            let ModelCost { messages: said, counted } = run.entry(name.clone()).or_default();
            of_it.iter().for_each(|message| said.add(&message.usage));
            // The cost of an unknown model is stated as zero.
            let is_known = |cost: &f64| cost.is_finite() && (*cost > 0.0 || !is_floor);
            if !total.cost_usd.is_some_and(|cost| is_known(&cost)) {
                continue;
            }
            let more = total.since(said);
            let news = more.since(counted);
            *counted = counted.max(&more);
            // Of sub-agents, it is unknown which have the unknown model.
            if is_partial || (is_floor && !is_alone) {
                continue;
            }
            let unpriced = TokenUsage { cost_usd: Some(0.0), ..TokenUsage::default() };
            stated
                .extend(of_it.into_iter().map(|it| StatedUsage { usage: unpriced, ..it.clone() }));
            let news = if is_alone {
                news
            } else {
                TokenUsage { cost_usd: news.cost_usd, ..TokenUsage::default() }
            };
            if !news.is_zero() {
                let id = format!("{OF_WINDOW}{}", start.as_millis());
                let model = Some(Text::from(&**name)).filter(|_| !name.is_empty());
                // Stated output, if only zero: a cost without tokens would be that of the whole session.
                let output_tokens = news.output_tokens.or(Some(0));
                let input_tokens = news.input_tokens.filter(|tokens| *tokens > 0);
                let usage = TokenUsage { input_tokens, output_tokens, ..news };
                stated.push(StatedUsage { message_id: Some(id.into()), model, at, usage });
            }
        }
        stated
    }

    fn run(&mut self, start: Timestamp) -> &mut BTreeMap<String, ModelCost> {
        let known = self.runs.iter().position(|(of, _)| *of == start);
        let run = known.and_then(|at| self.runs.remove(at)).unwrap_or((start, BTreeMap::new()));
        self.runs.truncate(MOST_RUNS);
        self.runs.push_front(run);
        &mut self.runs[0].1
    }
}

/// The name of a model without its terms and the size of its context, which only some records state.
fn base(model: Option<&Text>) -> String {
    let name = model.map(Text::decode).unwrap_or_default();
    name.split([' ', '[']).next().unwrap_or_default().to_owned()
}
