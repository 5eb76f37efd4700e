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
/// The end of a run states totals, which may continue those of the previous run. The usage in messages counts for a run
/// without an end, and if it is larger than the total.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunUsage {
    /// The usage counted so far, by model.
    counted: BTreeMap<String, TokenUsage>,
    /// The usage in messages since the end of the last run, by model.
    messages: BTreeMap<String, TokenUsage>,
    /// Whether each model call states its usage, so that messages add nothing.
    is_exact: bool,
}

fn name(model: Option<&Text>) -> String {
    model.map(Text::to_string).unwrap_or_default()
}

impl RunUsage {
    /// Records the usage in a message.
    pub fn note(&mut self, model: Option<&Text>, usage: &TokenUsage) {
        if !self.is_exact && !usage.is_zero() {
            self.messages.entry(name(model)).or_default().add(usage);
        }
    }

    /// Counts the usage of a model call immediately.
    pub fn count(&mut self, model: Option<&Text>, usage: &TokenUsage) {
        self.is_exact = true;
        self.messages.clear();
        self.counted.entry(name(model)).or_default().add(usage);
    }

    /// The uncounted usage of a run that ended with these totals.
    pub fn settle(&mut self, mut totals: Vec<ModelUsage>) -> Vec<ModelUsage> {
        self.is_exact = false;
        let messages = std::mem::take(&mut self.messages);
        if totals.is_empty() {
            for (model, usage) in &messages {
                self.counted.entry(model.clone()).or_default().add(usage);
            }
            return by_model(messages);
        }
        for (model, usage) in &mut totals {
            let name = name(model.as_ref());
            let mut stated = TokenUsage::default();
            // A total without a model covers all models.
            let of_it = messages.iter().filter(|(of, _)| name.is_empty() || **of == name);
            of_it.for_each(|(_, usage)| stated.add(usage));
            let counted = self.counted.entry(name).or_default();
            let mut expected = *counted;
            expected.add(&stated);
            if usage.output_tokens >= expected.output_tokens {
                *usage = usage.since(counted);
            }
            *usage = usage.max(&stated);
            counted.add(usage);
        }
        totals
    }

    /// Takes the usage of a run without an end, and resets the totals for the next run.
    pub fn take_unsettled(&mut self) -> Vec<ModelUsage> {
        by_model(std::mem::take(self).messages)
    }
}

fn by_model(usages: BTreeMap<String, TokenUsage>) -> Vec<ModelUsage> {
    let name = |name: String| Some(Text::from(name)).filter(|name| !name.is_empty());
    usages.into_iter().map(|(model, usage)| (name(model), usage)).collect()
}
