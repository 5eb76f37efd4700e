//! Foldline folds the logs of coding agents into one stream of domain events.
#![forbid(unsafe_code)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod conversation;
pub mod emitters;
#[cfg(feature = "executors")]
pub mod executors;
#[cfg(feature = "processor")]
pub mod processor;
pub mod store;
pub mod transduce;
