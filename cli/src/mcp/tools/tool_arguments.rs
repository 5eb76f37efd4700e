//! [`ToolArguments`]: what a tool answers.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{
    error::Error,
    mcp::{arguments::Bounds, call::Call},
};

/// A question: the arguments of a tool, which read nothing but the database.
pub(crate) trait ToolArguments: DeserializeOwned + JsonSchema {
    /// The name of the tool.
    const NAME: &'static str;
    /// Its title for people.
    const TITLE: &'static str;
    /// Its description for a model.
    const ABOUT: &'static str;

    /// The bounds of the answer.
    fn bounds(&self) -> &Bounds;

    /// The answer as text.
    ///
    /// # Errors
    /// An argument is wrong, or the database cannot be read.
    fn answer(&self, call: &Call<'_>) -> Result<String, Error>;
}
