//! [`Used`]: the usage that matches the filter, and its cost.

use std::{cmp::Reverse, collections::BTreeMap, mem, sync::Arc};

use foldline::{
    position::{Located, Position},
    transduce::Emitter,
};
use foldline_database::{
    query::SessionFilter,
    usage::{PricedMessage, SessionUsage, UsageEmitter, UsageSum, all_tokens, priced},
};
use foldline_domain::{
    DomainEvent,
    pricing::{Cost, CostBasis, Prices},
};
use foldline_render::{human, terminal::neutralise_line};

use crate::say::say;

/// The usage that matches the filter.
pub(crate) struct Used<'s> {
    pub(crate) rows: Vec<PricedMessage<'s>>,
    /// Models without a price, and their tokens.
    unpriced: BTreeMap<Option<&'s str>, u64>,
    /// Tokens that are not counted, since it is unknown whether they were used in the requested time.
    undated: u64,
}

impl<'s> Used<'s> {
    /// The usage of the chosen sessions that the time and the model of the filter match.
    pub(crate) fn new(
        sessions: &'s [SessionUsage],
        filter: &SessionFilter,
        prices: &Prices,
    ) -> Self {
        let (mut rows, mut unpriced, mut undated) = (Vec::new(), BTreeMap::new(), 0_u64);
        for row in priced(sessions, prices).filter(|row| row.session.is_chosen) {
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
                let sum = unpriced.entry(model).or_insert(0_u64);
                *sum = sum.saturating_add(tokens);
            }
            rows.push(row);
        }
        Self { rows, unpriced, undated }
    }

    /// The total.
    pub(crate) fn total(&self) -> UsageSum<'s> {
        self.rows.iter().collect()
    }

    /// Reports on standard error what is not counted, and why costs are unknown.
    pub(crate) fn report(&self) {
        self.notes().iter().for_each(|note| say(note));
    }

    /// The reasons for uncounted tokens and unknown costs, in sentences.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut unpriced: Vec<_> =
            self.unpriced.iter().filter(|(_, tokens)| **tokens > 0).collect();
        unpriced.sort_by_key(|(model, tokens)| (model.is_none(), Reverse(**tokens)));
        let all = unpriced.iter().fold(0_u64, |sum, (_, tokens)| sum.saturating_add(**tokens));
        let models: Vec<_> =
            unpriced.iter().filter_map(|(model, _)| model.map(neutralise_line)).collect();
        let mut why = Vec::new();
        if !models.is_empty() {
            why.push(format!("no price for {}", models.join(", ")));
        }
        if let Some(tokens) = self.unpriced.get(&None).filter(|tokens| **tokens > 0) {
            why.push(format!("no model is stated for {}", human::count(*tokens)));
        }
        let excluded = (!why.is_empty())
            .then(|| format!("the cost excludes {} ({})", number_of_tokens(all), why.join("; ")));
        let undated = match self.undated {
            0 => None,
            tokens => {
                let tokens = number_of_tokens(tokens);
                Some(format!("no time is stated for {tokens}, not counted here"))
            }
        };
        undated.into_iter().chain(excluded).collect()
    }
}

/// A rounded number of tokens.
fn number_of_tokens(tokens: u64) -> String {
    format!("{} token{}", human::count(tokens), if tokens == 1 { "" } else { "s" })
}

/// The cost of one session.
#[derive(Clone)]
pub(crate) struct Spent {
    usage: UsageEmitter,
    prices: Arc<Prices>,
}

impl Spent {
    pub(crate) fn new(prices: impl Into<Arc<Prices>>) -> Self {
        Self { usage: UsageEmitter::default(), prices: prices.into() }
    }

    /// Adds the token usage of an event, and the facts of its session.
    pub(crate) fn take(&mut self, event: &DomainEvent) {
        if matches!(event, DomainEvent::Usage { .. } | DomainEvent::Session(_)) {
            let _ = self.usage.emit(&Located::new(Position::default(), event.clone()));
        }
    }

    /// Passes on each message with its cost.
    pub(crate) fn each(&mut self, mut each: impl FnMut(&PricedMessage<'_>)) {
        let sessions = mem::take(&mut self.usage).into_sessions();
        priced(&sessions, &self.prices).for_each(|message| each(&message));
    }

    /// The cost, if it is known.
    pub(crate) fn cost(&mut self) -> Option<Cost> {
        let sessions = mem::take(&mut self.usage).into_sessions();
        priced(&sessions, &self.prices).collect::<Vec<_>>().iter().collect::<UsageSum<'_>>().cost
    }

    /// The cost; an estimate, even of a part, is marked.
    pub(crate) fn estimated(&mut self) -> Option<String> {
        let cost = self.cost().filter(|cost| cost.basis != CostBasis::Logged)?;
        Some(format!("≈{}", human::dollars(cost.usd)))
    }
}
