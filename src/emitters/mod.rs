//! The consumers: one file or folder each, domain events in, output out. None knows an agent.

pub mod drift;
#[cfg(feature = "patch")]
pub mod patch;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "transcript")]
pub mod transcript;
