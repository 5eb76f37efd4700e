//! The prices that costs are estimated with.

use std::{borrow::Cow, fs, path::PathBuf, sync::Arc};

use clap::Args;
use foldline::{
    conversation::TokenUsage,
    pricing::{Prices, Requests},
};
use rusqlite::{Connection, functions::FunctionFlags};

use crate::error::Error;

/// The options of estimated costs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PricesArgs {
    /// Prices in addition to those that are built in, which they replace: a JSON file in LiteLLM's format
    #[arg(long, value_name = "FILE", global = true)]
    prices: Option<PathBuf>,
}

impl PricesArgs {
    /// The built-in prices, with those of the file.
    pub(crate) fn load(&self) -> Result<Cow<'static, Prices>, Error> {
        let Some(path) = &self.prices else { return Ok(Cow::Borrowed(Prices::builtin())) };
        let json =
            fs::read_to_string(path).map_err(|error| Error::Input { path: path.clone(), error })?;
        let given = Prices::read(&json)
            .map_err(|error| Error::WrongUse(format!("{}: {error}", path.display())))?;
        Ok(Cow::Owned(Prices::builtin().clone().with(given)))
    }

    /// Teaches SQL these prices.
    pub(crate) fn teach(&self, connection: &Connection) -> Result<(), Error> {
        teach(Arc::new(self.load()?.into_owned()), connection)
    }
}

/// Gives SQL the function `estimated_cost(message_id, model, input, output, cache_read, cache_write,
/// cache_write_1h)`, in US dollars; `NULL` where the model has no price, or nothing was used.
pub(crate) fn teach(prices: Arc<Prices>, connection: &Connection) -> Result<(), Error> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection
        .create_scalar_function("estimated_cost", 7, flags, move |row| {
            let (message, model): (String, String) = (row.get(0)?, row.get(1)?);
            let count = |at| row.get::<Option<i64>>(at).map(|n| n.map(i64::cast_unsigned));
            let usage = TokenUsage {
                input_tokens: count(2)?,
                output_tokens: count(3)?,
                cache_read_tokens: count(4)?,
                cache_write_tokens: count(5)?,
                cache_write_1h_tokens: count(6)?,
                ..TokenUsage::default()
            };
            if usage.is_zero() {
                return Ok(None);
            }
            let cost = prices.cost(&model, &usage, requests(Some(&message)));
            Ok::<_, rusqlite::Error>(cost.map(|cost| cost.usd))
        })
        .map_err(|error| Error::WrongUse(format!("cannot estimate costs: {error}")))
}

/// How many requests the tokens of a message are of. Those without an id may be of any number.
pub(crate) fn requests(message_id: Option<&str>) -> Requests {
    match message_id {
        None | Some("") => Requests::Several,
        Some(_) => Requests::One,
    }
}
