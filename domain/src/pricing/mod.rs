//! Prices of models, to estimate costs that a log does not state.
//!
//! [`Prices::builtin`] is a dated table derived from LiteLLM's; [`Prices::read`] reads that format, for newer prices
//! or contract prices.
//!
//! # The names of models
//!
//! Agents log the same model under several names. A name is looked up unchanged; then in lower case, without the part
//! before the last `/`, without suffixes such as `[1m]`, and without the marks of Bedrock and Vertex
//! (`us.anthropic.`, `-v1:0`, `@20250929`); then without a date or `-latest` at its end; and with a hyphen instead of
//! a dot between digits (`claude-haiku-4.5`). The first name in the table counts. There is no further guessing: a
//! model that is not in the table has no price.
//!
//! # Tiers
//!
//! Some models cost more when a request has more than 200,000 input tokens, or another number. Then *all* tokens of
//! that request have the higher price. This can only be determined for the tokens of a single request: a sum over
//! several requests is estimated at the lowest tier ([`Requests`]).
//!
//! # Earlier prices
//!
//! A request costs what its model cost on that day. An entry of the table may have the prices that it had before, with
//! their ends: `"earlier": [{"until": "2025-06-10", "input_cost_per_token": 1e-05, ..}]`. Tokens without a time have the
//! present price.

mod name;
mod read;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use foldhash::HashMap;
use foldline::position::Timestamp;
use serde::Serialize;

pub use self::read::PricesError;
use crate::conversation::TokenUsage;

/// Token prices by model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    models: BTreeMap<String, Price>,
    looked_up: Memo<Price>,
}

/// The price of a search of the web by the provider, in US dollars: that of Anthropic, the only one whose logs count them.
pub const WEB_SEARCH_USD: f64 = 0.01;

/// The price of a model.
#[derive(Clone, Debug, Default, PartialEq)]
struct Price {
    base: Rates,
    /// Rates for requests with more than this number of input tokens, ascending.
    tiers: Vec<(u64, Rates)>,
    /// Rates under other terms, such as `fast` and `priority`.
    terms: BTreeMap<String, Rates>,
    /// Prices that it had before, each with its end, the earliest first.
    earlier: Vec<(Timestamp, Price)>,
    /// The context window, in tokens.
    window: Option<u64>,
}

/// US dollars per token.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rates {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    cache_write_1h: f64,
}

/// Some rates of a model, and when they apply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelRates {
    /// The end of their time; `None` for the present ones.
    pub until: Option<Timestamp>,
    /// They apply to requests with more input tokens than this; `None` for the lowest tier.
    pub more_than: Option<u64>,
    /// US dollars per token of input, output, cache reads, cache writes and cache writes for an hour.
    pub rates: [f64; 5],
}

/// The number of requests that some tokens belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// A single request, whose input determines the price tier.
    One,
    /// Any number of requests, of which only the sum is known: the lowest tier applies.
    Several,
}

impl Prices {
    /// Adds other prices, which replace existing ones with the same names.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        self.models.extend(others.models);
        Self { looked_up: Memo::default(), ..self }
    }

    /// The cost of tokens of a model that were used at this time: as stated in the log ([`TokenUsage::cost_usd`]), else
    /// estimated from its price then, or else its present price. `None` if the model has no price.
    ///
    /// ```
    /// use foldline_domain::{TokenUsage, pricing::{CostBasis, Prices, Requests}};
    ///
    /// let prices = Prices::read(
    ///     r#"{"large": {"input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
    ///                   "cache_read_input_token_cost": 3e-07}}"#,
    /// )?;
    /// let usage = TokenUsage {
    ///     input_tokens: Some(1_000), // of which 900 are from the cache
    ///     cache_read_tokens: Some(900),
    ///     output_tokens: Some(10),
    ///     ..TokenUsage::default()
    /// };
    /// let cost = prices.cost("anthropic/large-20260131", &usage, Requests::One, None).unwrap();
    /// assert_eq!(format!("{:.6}", cost.usd), "0.000720"); // 100 × $3 + 900 × $0.3 + 10 × $15 a million
    /// assert_eq!(cost.basis, CostBasis::Estimated);
    /// assert!(prices.cost("small", &usage, Requests::One, None).is_none());
    /// # Ok::<(), foldline_domain::pricing::PricesError>(())
    /// ```
    pub fn cost(
        &self,
        model: &str,
        usage: &TokenUsage,
        requests: Requests,
        at: Option<Timestamp>,
    ) -> Option<Cost> {
        if let Some(usd) = usage.cost_usd.filter(|cost| cost.is_finite()) {
            return Some(Cost { usd, basis: CostBasis::Logged });
        }
        if usage.is_zero() {
            return Some(Cost { usd: 0.0, basis: CostBasis::Estimated });
        }
        let price = self.price(model)?;
        let usd = price.at(at).rates(usage, requests).cost(usage);
        Some(Cost { usd, basis: CostBasis::Estimated })
    }

    /// The context window of a model, in tokens: the largest input of a request. A contract may allow more.
    pub fn window(&self, model: &str) -> Option<u64> {
        self.price(model)?.window
    }

    /// The rates of a model, the present ones last.
    pub fn rates_of(&self, model: &str) -> Vec<ModelRates> {
        let Some(price) = self.price(model) else { return Vec::new() };
        let earlier = price.earlier.iter().map(|(until, price)| (Some(*until), price));
        let all = earlier.chain([(None, &*price)]).flat_map(|(until, price)| {
            let tiers = price.tiers.iter().map(|(over, rates)| (Some(*over), rates));
            let all = std::iter::once((None, &price.base)).chain(tiers);
            all.map(move |(more_than, rates)| ModelRates { until, more_than, rates: rates.list() })
        });
        all.collect()
    }

    fn price(&self, model: &str) -> Option<Arc<Price>> {
        self.looked_up.get(model, || self.find(model).map(Cow::into_owned))
    }

    /// The price of a model, by its name with the terms behind it: `claude-opus-4-6 fast`.
    fn find(&self, model: &str) -> Option<Cow<'_, Price>> {
        let (model, terms) = model.split_once(' ').unwrap_or((model, ""));
        let price = name::find(model, |name| self.models.get(name).or_else(|| self.dated(name)))?;
        let known = terms.split_whitespace().filter_map(|terms| price.terms.get(terms));
        let price = known.fold(Cow::Borrowed(price), |price, terms| {
            let factor = terms.input / price.base.input;
            Cow::Owned(if factor.is_finite() { price.times(factor) } else { price.into_owned() })
        });
        Some(price)
    }

    /// The latest entry of a model whose entries all have a date.
    fn dated(&self, name: &str) -> Option<&Price> {
        let all = self.models.range(name.to_owned()..);
        let all = all.take_while(|(known, _)| known.starts_with(name));
        all.filter(|(known, _)| name::is_release(known, name)).last().map(|(_, price)| price)
    }

    /// The number of models with a price.
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// Whether no model has a price.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }
}

impl Price {
    /// All rates, this many times as high.
    fn times(&self, factor: f64) -> Self {
        let tiers = self.tiers.iter().map(|(over, rates)| (*over, rates.times(factor)));
        let earlier = self.earlier.iter().map(|(until, price)| (*until, price.times(factor)));
        Self {
            base: self.base.times(factor),
            tiers: tiers.collect(),
            terms: BTreeMap::new(),
            earlier: earlier.collect(),
            window: self.window,
        }
    }

    /// The price at a time.
    fn at(&self, at: Option<Timestamp>) -> &Self {
        let is_then = |(until, _): &&(Timestamp, Self)| at.is_some_and(|at| at < *until);
        self.earlier.iter().find(is_then).map_or(self, |(_, price)| price)
    }

    fn rates(&self, usage: &TokenUsage, requests: Requests) -> &Rates {
        let input = usage.input_tokens.unwrap_or(0);
        let is_over = |(over, _): &&(u64, Rates)| requests == Requests::One && input > *over;
        self.tiers.iter().rev().find(is_over).map_or(&self.base, |(_, rates)| rates)
    }
}

impl Rates {
    fn list(&self) -> [f64; 5] {
        let Self { input, output, cache_read, cache_write, cache_write_1h } = self;
        [*input, *output, *cache_read, *cache_write, *cache_write_1h]
    }

    fn times(&self, factor: f64) -> Self {
        let Self { input, output, cache_read, cache_write, cache_write_1h } = self;
        Self {
            input: input * factor,
            output: output * factor,
            cache_read: cache_read * factor,
            cache_write: cache_write * factor,
            cache_write_1h: cache_write_1h * factor,
        }
    }

    fn cost(&self, usage: &TokenUsage) -> f64 {
        let count = |tokens: Option<u64>| tokens.unwrap_or(0);
        let (read, written) = (count(usage.cache_read_tokens), count(usage.cache_write_tokens));
        let for_an_hour = count(usage.cache_write_1h_tokens).min(written);
        // Input tokens include the cached tokens.
        let fresh = count(usage.input_tokens).saturating_sub(read).saturating_sub(written);
        let parts = [
            (fresh, self.input),
            (read, self.cache_read),
            (written - for_an_hour, self.cache_write),
            (for_an_hour, self.cache_write_1h),
            (count(usage.output_tokens), self.output),
        ];
        let searches = count(usage.web_searches) as f64 * WEB_SEARCH_USD;
        parts.into_iter().map(|(tokens, rate)| tokens as f64 * rate).sum::<f64>() + searches
    }
}

/// A cost and its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// US dollars.
    pub usd: f64,
    /// The origin of the number.
    pub basis: CostBasis,
}

/// The origin of a [`Cost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum CostBasis {
    /// The log states it.
    Logged,
    /// Tokens times the prices of a table.
    Estimated,
    /// A sum of logged and estimated costs.
    Mixed,
}

impl CostBasis {
    /// The serialised name.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let basis = if self.basis == other.basis { self.basis } else { CostBasis::Mixed };
        Self { usd: self.usd + other.usd, basis }
    }
}

/// The number of names that are kept, which are any texts of a log.
const MOST: usize = 1 << 10;

/// What was found in a table under the names that were looked up. A log names few, again and again.
///
/// It follows from the table: a copy begins empty, and all are equal.
#[derive(Debug)]
pub(super) struct Memo<T>(RwLock<HashMap<String, Option<Arc<T>>>>);

impl<T> Memo<T> {
    /// What `find` found under a name the first time.
    pub(super) fn get(&self, name: &str, find: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        known.unwrap_or_else(|| {
            let found = find().map(Arc::new);
            let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if all.len() == MOST {
                all.clear();
            }
            all.insert(name.to_owned(), found.clone());
            found
        })
    }
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T> Clone for Memo<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> PartialEq for Memo<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
