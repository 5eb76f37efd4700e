//! The consumers: one file or folder each, domain events in, output out. None knows an agent.

#[cfg(feature = "audit")]
pub mod audit;
pub mod drift;
pub mod interleaved;
pub mod lines;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "patch")]
pub mod patch;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "transcript")]
pub mod terminal;
pub mod traced;
#[cfg(feature = "transcript")]
pub mod transcript;
