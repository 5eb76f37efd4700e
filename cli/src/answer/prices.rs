//! The prices for the estimation of costs.

use std::{borrow::Cow, fs, path::PathBuf};

use clap::Args;
use foldline_domain::pricing::Prices;

use crate::error::Error;

/// The options of estimated costs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PricesArgs {
    /// Prices that override the built-in ones: a JSON file in LiteLLM's format
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
}
