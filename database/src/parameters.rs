//! [`Parameters`]: the parameters of a query.

use super::{dialect::Dialect, store::Parameter};

/// The parameters of a query, in the order of their numbers.
#[derive(Clone)]
pub(super) struct Parameters {
    pub(super) dialect: Dialect,
    pub(super) values: Vec<Parameter>,
}

impl Parameters {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, values: Vec::new() }
    }

    /// Adds a parameter, and returns its name in SQL.
    pub(super) fn add(&mut self, value: impl Into<Parameter>) -> String {
        self.values.push(value.into());
        self.dialect.parameter(self.values.len())
    }
}
