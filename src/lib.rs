//! Foldline folds the logs of coding agents into one stream of domain events.
#![forbid(unsafe_code)]

pub mod conversation;
#[cfg(feature = "executors")]
pub mod executors;
pub mod transduce;
