//! The estimated cost of a message, in SQL: PostgreSQL cannot call the price table.

use foldline_domain::{
    Timestamp,
    pricing::{ModelRates, Prices, WEB_SEARCH_USD},
};

use crate::NOT_STATED;

/// An expression for the cost of a row of `message_usage`, with the prices of these models; `NULL` if the model has no
/// price, or nothing was used. It is the formula of [`Prices::cost`].
pub(super) fn estimated_cost<'m>(models: impl Iterator<Item = &'m str>, prices: &Prices) -> String {
    let mut rows = Vec::new();
    for model in models {
        for ModelRates { until, more_than, rates } in prices.rates_of(model) {
            let until = until.map_or(i64::MAX, Timestamp::as_millis);
            let rates = rates.map(|rate| format!("{rate:e}::float8"));
            let over = more_than.map_or(-1, |over| i64::try_from(over).unwrap_or(i64::MAX));
            rows.push(format!(
                "({}, {until}::bigint, {over}::bigint, {})",
                quoted(model),
                rates.join(", ")
            ));
        }
    }
    if rows.is_empty() {
        return "CAST(NULL AS float8)".to_owned();
    }
    let count = |column: &str| format!("coalesce({column}, 0)::float8");
    let (input, output) = (count("input_tokens"), count("output_tokens"));
    let (read, written) = (count("cache_read_tokens"), count("cache_write_tokens"));
    let hour = format!("least({}, {written})", count("cache_write_1h_tokens"));
    let searches = count("web_searches");
    let fresh = format!("greatest(greatest({input} - {read}, 0) - {written}, 0)");
    format!(
        "(SELECT {fresh} * price.input + {read} * price.cache_read + ({written} - {hour}) * price.cache_write
                 + {hour} * price.cache_write_1h + {output} * price.output
                 + {searches} * {WEB_SEARCH_USD}
          FROM (VALUES {}) AS price (model, until, over, input, output, cache_read, cache_write, cache_write_1h)
          WHERE price.model = message_usage.model
                AND coalesce(nullif(used_at, {NOT_STATED}), 9223372036854775806) < price.until
                AND (price.over < 0 OR (message_id <> '' AND coalesce(input_tokens, 0) > price.over))
                AND (coalesce(input_tokens, 0) <> 0 OR coalesce(output_tokens, 0) <> 0
                     OR coalesce(cache_read_tokens, 0) <> 0 OR coalesce(cache_write_tokens, 0) <> 0
                     OR coalesce(cache_write_1h_tokens, 0) <> 0 OR coalesce(web_searches, 0) <> 0)
          ORDER BY price.until, price.over DESC LIMIT 1)",
        rows.join(", ")
    )
}

/// A text in SQL.
fn quoted(text: &str) -> String {
    let stored = super::texts::encode(text);
    format!("'{}' COLLATE \"C\"", stored.replace('\'', "''"))
}
