//! [`StoreError`]: why a query failed.

use std::error::Error;

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The engine failed; its own error says why.
    #[error(transparent)]
    Engine(Box<dyn Error + Send + Sync>),
    /// The search query is invalid.
    #[error("{0}")]
    Query(String),
    /// A row holds what a store does not write.
    #[error("the database holds an unexpected value: {0}")]
    Unexpected(String),
}

impl StoreError {
    /// The error of an engine.
    pub fn engine(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Engine(Box::new(error))
    }

    pub(crate) fn unexpected(message: String) -> Self {
        Self::Unexpected(message)
    }
}
