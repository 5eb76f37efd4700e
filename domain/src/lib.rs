//! The domain of Foldline: conversations with coding agents, in types common to all agents and all consumers.
//!
//! [`DomainEvent`] is the only boundary between them: executors produce events, emitters read them. An event carries a
//! [`NormalizedEntry`], facts about the [`Session`], [`TokenUsage`], or a [`Warning`]; wrapped in [`Located`] it has
//! its position in the log. [`ToolCalls`] is the correlation machine shared by all executors, and [`Conversation`]
//! folds all events into one document.
//!
//! The consumers here are light, one file or folder each, from domain events to output, independent of agents:
//!
//! - [`patch`]: JSON Patches for user interfaces; [`store`]: the live document with its subscribers.
//! - [`lines`]: outputs as lines of a file.
//! - [`metrics`]: counters in the text format of Prometheus.
//! - [`audit`]: a hash-chained record of every event, its signatures and its verification.
//! - [`drift`]: what of a log is not understood.
//! - [`pricing`]: token costs from a price table.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod active;
pub mod audit;
mod conversation;
pub mod drift;
mod dynamic;
pub mod lines;
pub mod metrics;
pub mod patch;
pub mod pricing;
pub mod store;
pub mod title;
pub mod traced;

pub use self::{
    active::{ActiveTime, Activity},
    conversation::*,
    dynamic::{DynEmitter, PerSession, per_session},
};
