//! The consumers: one file or folder each, from domain events to output, independent of agents.

#[cfg(feature = "audit")]
pub mod audit;
#[cfg(feature = "database")]
// An engine uses what is shared.
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, unused_imports, reason = "the engines are features of their own")
)]
pub mod database;
pub mod drift;
#[cfg(feature = "processor")]
mod dynamic;
#[cfg(feature = "html")]
pub mod html;
#[cfg(any(feature = "patch", feature = "html"))]
mod index;
pub mod lines;
#[cfg(feature = "markdown")]
pub mod markdown;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "otlp")]
pub mod otlp;
#[cfg(feature = "patch")]
pub mod patch;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redact")]
pub mod redact;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(any(feature = "transcript", feature = "html", feature = "markdown"))]
pub mod text;
mod title;
pub mod traced;
#[cfg(feature = "transcript")]
pub mod transcript;
pub mod usage;

#[cfg(feature = "processor")]
pub use self::dynamic::DynEmitter;
#[cfg(any(feature = "transcript", feature = "html", feature = "markdown"))]
pub use self::text::{human, printed, terminal};
