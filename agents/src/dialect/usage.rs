//! Token usage: counters, whose names and meaning depend on the agent, and logs whose runs end with totals.

use std::collections::BTreeMap;

use foldline_domain::{Text, TokenUsage};
use serde::{Deserialize, Serialize};

use crate::wire::Object;

/// Takes the counters of these names: input, output, cache reads, cache writes and reasoning.
pub fn take_counters(stated: &mut Object<'_>, names: [&str; 5]) -> TokenUsage {
    let [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens] =
        names.map(|name| stated.u64(name));
    TokenUsage {
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        reasoning_tokens,
        ..TokenUsage::default()
    }
}

/// Adds cached input to the input, for agents that count it separately.
pub fn with_cache(apart: TokenUsage) -> TokenUsage {
    let cached = [apart.cache_read_tokens, apart.cache_write_tokens].into_iter().flatten();
    let input_tokens = apart.input_tokens.map(|input| cached.fold(input, u64::saturating_add));
    TokenUsage { input_tokens, ..apart }
}

/// The usage of a model, whose name may be missing.
pub type ModelUsage = (Option<Text>, TokenUsage);

/// The usage of the runs of a log, counted once.
///
/// Messages are counted as they come, since a run that is killed states no totals. The end of a run states totals, which
/// count for what exceeds its messages. They may continue those of the previous run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunUsage {
    /// The usage of model calls, and of the runs that ended, by model.
    counted: BTreeMap<String, TokenUsage>,
    /// The usage in messages since the end of the last run, by model, that no model call stated.
    messages: BTreeMap<String, TokenUsage>,
    /// Whether each model call states its usage, so that messages add nothing.
    is_exact: bool,
}

fn name(model: Option<&Text>) -> String {
    model.map(Text::to_string).unwrap_or_default()
}

fn output<'u>(usages: impl IntoIterator<Item = &'u TokenUsage>) -> u64 {
    let output = usages.into_iter().filter_map(|usage| usage.output_tokens);
    output.fold(0, u64::saturating_add)
}

/// Subtracts usage from each other, so that neither contains the other's.
fn subtract(usage: &mut TokenUsage, other: &mut TokenUsage) {
    (*usage, *other) = (usage.since(other), other.since(usage));
}

impl RunUsage {
    /// The usage in a message, if it is to be counted.
    pub fn note(&mut self, model: Option<&Text>, usage: TokenUsage) -> Option<TokenUsage> {
        if self.is_exact || usage.is_zero() {
            return None;
        }
        self.messages.entry(name(model)).or_default().add(&usage);
        Some(usage)
    }

    /// The usage of a model call that its message did not state.
    pub fn count(&mut self, model: Option<&Text>, mut usage: TokenUsage) -> TokenUsage {
        self.is_exact = true;
        self.counted.entry(name(model)).or_default().add(&usage);
        if let Some(message) = self.messages.get_mut(&name(model)) {
            subtract(&mut usage, message);
        }
        usage
    }

    /// The uncounted usage of a run that ended with these totals.
    ///
    /// They continue those of the previous run if their output is nearer to that of all messages so far than to that of
    /// the messages of this run.
    pub fn settle(&mut self, mut totals: Vec<ModelUsage>) -> Vec<ModelUsage> {
        self.is_exact = false;
        let messages = std::mem::take(&mut self.messages);
        if totals.is_empty() {
            for (model, usage) in messages {
                self.counted.entry(model).or_default().add(&usage);
            }
            return totals;
        }
        let (total, run) =
            (output(totals.iter().map(|(_, usage)| usage)), output(messages.values()));
        let before = output(self.counted.values());
        let continues =
            total >= before && total.abs_diff(before.saturating_add(run)) < total.abs_diff(run);
        let mut unnamed = messages.get("").copied().unwrap_or_default();
        totals.retain_mut(|(model, usage)| {
            let name = name(model.as_ref());
            let mut stated = TokenUsage::default();
            // A total without a model covers all models.
            let of_it = messages.iter().filter(|(of, _)| name.is_empty() || **of == name);
            of_it.for_each(|(_, usage)| stated.add(usage));
            let counted = self.counted.entry(name.clone()).or_default();
            if continues && usage.output_tokens >= counted.output_tokens {
                *usage = usage.since(counted);
            }
            *usage = usage.max(&stated);
            counted.add(usage);
            *usage = usage.since(&stated);
            if !name.is_empty() {
                subtract(usage, &mut unnamed);
            }
            !usage.is_zero() || messages.is_empty()
        });
        totals
    }
}
