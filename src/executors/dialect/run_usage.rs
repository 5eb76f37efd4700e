//! The tokens of logs whose runs end with totals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::conversation::{Text, TokenUsage};

/// What a model used; without a name where the log names none.
pub type ModelUsage = (Option<Text>, TokenUsage);

/// What the runs of a log used, counted once.
///
/// The end of a run states totals, which may go on from those of the run before. What the messages state
/// counts for a run without an end, and where it is more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunUsage {
    /// What was counted so far, by model.
    counted: BTreeMap<String, TokenUsage>,
    /// What the messages since the last end of a run state, by model.
    messages: BTreeMap<String, TokenUsage>,
    /// Each call of the model states what it used, and the messages nothing more.
    is_exact: bool,
}

fn name(model: Option<&Text>) -> String {
    model.map(Text::to_string).unwrap_or_default()
}

impl RunUsage {
    /// A message states what it used.
    pub fn note(&mut self, model: Option<&Text>, usage: &TokenUsage) {
        if !self.is_exact && !usage.is_zero() {
            self.messages.entry(name(model)).or_default().add(usage);
        }
    }

    /// A call of a model states what it used, which counts at once.
    pub fn count(&mut self, model: Option<&Text>, usage: &TokenUsage) {
        self.is_exact = true;
        self.messages.clear();
        self.counted.entry(name(model)).or_default().add(usage);
    }

    /// What a run used that ended with these totals, beyond what was counted.
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
            // A total without a model is that of all of them.
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

    /// What a run used that has no end; nothing is known of the next one.
    pub fn take_unsettled(&mut self) -> Vec<ModelUsage> {
        by_model(std::mem::take(self).messages)
    }
}

fn by_model(usages: BTreeMap<String, TokenUsage>) -> Vec<ModelUsage> {
    let name = |name: String| Some(Text::from(name)).filter(|name| !name.is_empty());
    usages.into_iter().map(|(model, usage)| (name(model), usage)).collect()
}
