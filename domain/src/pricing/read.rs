//! Reads price tables.

use std::{collections::BTreeMap, sync::LazyLock};

use foldline::position::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Price, Prices, Rates};

/// The built-in table, written by `generate.py`.
const BUILTIN: &str = include_str!("prices.json");

/// The reason why a price table cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PricesError {
    /// It is not a JSON object of objects.
    #[error("not a price table in LiteLLM's format: {0}")]
    Json(#[from] serde_json::Error),
    /// It contains no price.
    #[error("the price table has no model with input_cost_per_token")]
    Empty,
}

#[derive(Deserialize)]
struct Builtin {
    prices: BTreeMap<String, Map<String, Value>>,
}

impl Prices {
    /// The prices known to this release.
    pub fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Prices> = LazyLock::new(builtin);
        &BUILTIN
    }

    /// Reads a table in LiteLLM's format: a JSON object of models, each an object with `input_cost_per_token`,
    /// `output_cost_per_token` and so on, in US dollars. Entries without these are ignored.
    ///
    /// # Errors
    /// The text is not such an object, or contains no price.
    pub fn read(json: &str) -> Result<Self, PricesError> {
        let prices = prices(&serde_json::from_str(json)?);
        match prices.is_empty() {
            true => Err(PricesError::Empty),
            false => Ok(prices),
        }
    }
}

fn builtin() -> Prices {
    let table: Option<Builtin> = serde_json::from_str(BUILTIN).ok();
    // A test checks that the table can be read.
    table.map(|table| prices(&table.prices)).unwrap_or_default()
}

fn prices(table: &BTreeMap<String, Map<String, Value>>) -> Prices {
    let models = table.iter().filter_map(|(name, entry)| Some((name.clone(), price(entry)?)));
    Prices { models: models.collect(), ..Prices::default() }
}

fn price(entry: &Map<String, Value>) -> Option<Price> {
    let window = entry.get("max_input_tokens").and_then(Value::as_u64);
    if let Some(tiers) = entry.get("tiered_pricing").and_then(Value::as_array) {
        return price_of_ranges(tiers).map(|price| Price { window, ..price });
    }
    let base = Stated::take(entry, "").over(None)?;
    let mut tiers: Vec<(u64, Rates)> = entry
        .keys()
        .filter_map(|key| {
            let suffix = key.strip_prefix("input_cost_per_token")?;
            let over = suffix.strip_prefix("_above_")?.strip_suffix("k_tokens")?;
            let over = over.parse::<u64>().ok()?.checked_mul(1000)?;
            Some((over, Stated::take(entry, suffix).over(Some(&base))?))
        })
        .collect();
    tiers.sort_by_key(|(over, _)| *over);
    let mut terms = BTreeMap::new();
    for (name, suffix) in [("batch", "_batches"), ("flex", "_flex"), ("priority", "_priority")] {
        let stated = Stated::take(entry, suffix).over(Some(&base));
        terms.extend(stated.map(|rates| (name.to_owned(), rates)));
    }
    let factors = entry.get("provider_specific_entry").and_then(Value::as_object);
    for (name, factor) in factors.into_iter().flatten() {
        let factor = factor.as_f64().filter(|factor| factor.is_finite() && *factor > 0.0);
        terms.extend(factor.map(|factor| (name.clone(), base.times(factor))));
    }
    let earlier = entry.get("earlier").and_then(Value::as_array).into_iter().flatten();
    let mut earlier: Vec<_> = earlier
        .filter_map(Value::as_object)
        .filter_map(|entry| Some((end(entry)?, price(entry)?)))
        .collect();
    earlier.sort_by_key(|(until, _)| *until);
    Some(Price { base, tiers, terms, earlier, window })
}

/// The end of an earlier price: the beginning of a day in UTC.
fn end(entry: &Map<String, Value>) -> Option<Timestamp> {
    let day: jiff::civil::Date = entry.get("until")?.as_str()?.parse().ok()?;
    let start = day.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp::from_millis(start.timestamp().as_millisecond()))
}

/// Prices by ranges of input tokens of a request: `[from, to]`.
fn price_of_ranges(ranges: &[Value]) -> Option<Price> {
    let mut price: Option<Price> = None;
    for range in ranges.iter().filter_map(Value::as_object) {
        let from = range.get("range")?.get(0)?.as_f64()?;
        let rates = Stated::take(range, "").over(price.as_ref().map(|price| &price.base))?;
        match &mut price {
            None => price = Some(Price { base: rates, ..Price::default() }),
            Some(price) => price.tiers.push((from as u64, rates)),
        }
    }
    if let Some(price) = &mut price {
        price.tiers.sort_by_key(|(over, _)| *over);
    }
    price
}

/// The rates stated by an entry.
struct Stated {
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
}

impl Stated {
    /// Reads the keys with this suffix.
    fn take(entry: &Map<String, Value>, suffix: &str) -> Self {
        let rate = |name: &str| {
            let rate = entry.get(&format!("{name}{suffix}"))?.as_f64()?;
            Some(rate).filter(|rate| rate.is_finite() && *rate >= 0.0)
        };
        Self {
            input: rate("input_cost_per_token"),
            output: rate("output_cost_per_token"),
            cache_read: rate("cache_read_input_token_cost"),
            cache_write: rate("cache_creation_input_token_cost"),
            cache_write_1h: rate("cache_creation_input_token_cost_above_1hr"),
        }
    }

    /// All rates. Without a cache rate, cached tokens cost as much as other input. A rate that a tier does not state
    /// is raised in proportion to the input rate.
    fn over(&self, base: Option<&Rates>) -> Option<Rates> {
        let input = self.input?;
        let raised = |rate: fn(&Rates) -> f64| {
            let base = base.filter(|base| base.input > 0.0)?;
            Some(rate(base) * (input / base.input))
        };
        let cache_write = self.cache_write.or(raised(|base| base.cache_write)).unwrap_or(input);
        Some(Rates {
            input,
            output: self.output.or(raised(|base| base.output))?,
            cache_read: self.cache_read.or(raised(|base| base.cache_read)).unwrap_or(input),
            cache_write,
            cache_write_1h: self
                .cache_write_1h
                .or(raised(|base| base.cache_write_1h))
                .unwrap_or(cache_write),
        })
    }
}
