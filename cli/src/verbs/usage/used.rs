//! [`Used`]: what was used, as far as it is asked for, and what it cost.

use std::collections::BTreeMap;

use foldline::{
    emitters::{
        sqlite::query::SessionFilter,
        terminal::neutralise_line,
        usage::{PricedMessage, SessionUsage, UsageSum, all_tokens, priced},
    },
    pricing::Prices,
};

use crate::say::say;

/// What was used, as far as it is asked for.
pub(crate) struct Used<'s> {
    pub(crate) rows: Vec<PricedMessage<'s>>,
    /// Models without a price, and their tokens.
    unpriced: BTreeMap<Option<&'s str>, u64>,
    /// Tokens that are left out, as nobody knows whether they were used in the time that is asked for.
    undated: u64,
}

impl<'s> Used<'s> {
    /// What the filter asks for.
    pub(crate) fn new(
        sessions: &'s [SessionUsage],
        filter: &SessionFilter,
        prices: &Prices,
    ) -> Self {
        let (mut rows, mut unpriced, mut undated) = (Vec::new(), BTreeMap::new(), 0_u64);
        for row in priced(sessions, prices).filter(|row| filter.admits(row.session)) {
            let of = &row.message.of;
            let (model, tokens) = (of.model.as_deref(), all_tokens(&row.message.usage));
            if !filter.admits_model(model) {
                continue;
            }
            if !filter.period.has(of.at) {
                undated = undated.saturating_add(if of.at.is_none() { tokens } else { 0 });
                continue;
            }
            if row.is_unpriced {
                *unpriced.entry(model).or_default() += tokens;
            }
            rows.push(row);
        }
        Self { rows, unpriced, undated }
    }

    /// All of it.
    pub(crate) fn total(&self) -> UsageSum<'s> {
        self.rows.iter().collect()
    }

    /// Says on standard error what is left out, and why costs are unknown.
    pub(crate) fn report(&self) {
        self.notes().iter().for_each(|note| say(note));
    }

    /// What is left out, and why costs are unknown, in sentences.
    pub(crate) fn notes(&self) -> Vec<String> {
        let note = |(model, tokens): (&Option<&str>, &u64)| match model {
            Some(model) => {
                let model = neutralise_line(model);
                format!("no price for the model {model}: {tokens} tokens are not in the cost")
            }
            None => format!("no model is stated for {tokens} tokens, which are not in the cost"),
        };
        let undated = match self.undated {
            0 => None,
            tokens => Some(format!("no time is stated for {tokens} tokens, which are left out")),
        };
        undated.into_iter().chain(self.unpriced.iter().map(note)).collect()
    }
}
