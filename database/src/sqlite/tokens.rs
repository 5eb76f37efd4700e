//! The costs of tokens.

use std::sync::Arc;

use foldline_domain::{Timestamp, TokenUsage, pricing::Prices};
use rusqlite::{Connection, functions::FunctionFlags};

use crate::{
    NOT_STATED,
    usage::{MessageUsage, UsedFor},
};

/// Adds the SQL function `estimated_cost(message_id, model, input, output, cache_read, cache_write,
/// cache_write_1h, web_searches, used_at)`, in US dollars; `NULL` if the model has no price, or nothing was used. The default is the
/// built-in price list.
pub(super) fn estimate(
    connection: &Connection,
    prices: Option<Arc<Prices>>,
) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("estimated_cost", 9, flags, move |row| {
        let count = |at| row.get::<Option<i64>>(at).map(|n| n.map(i64::cast_unsigned));
        let usage = TokenUsage {
            input_tokens: count(2)?,
            output_tokens: count(3)?,
            cache_read_tokens: count(4)?,
            cache_write_tokens: count(5)?,
            cache_write_1h_tokens: count(6)?,
            web_searches: count(7)?,
            ..TokenUsage::default()
        };
        let at = row.get::<Option<i64>>(8)?.filter(|at| *at != NOT_STATED);
        let at = at.map(Timestamp::from_millis);
        let message_id = Some(row.get(0)?).filter(|id: &String| !id.is_empty());
        let used = UsedFor { message_id, model: Some(row.get(1)?), at };
        let prices = prices.as_deref().unwrap_or_else(|| Prices::builtin());
        let cost = MessageUsage::new(used, usage).cost(prices);
        Ok(cost.filter(|_| !usage.is_zero()).map(|cost| cost.usd))
    })
}
