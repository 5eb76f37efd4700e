//! The fleet: logs of many machines, folded exactly once, through Apache Kafka.
//!
//! `ship` sends the lines of logs to a topic. `work` folds them into events, with one state per source. `sink` stores
//! the events in a database. Each commits its output and its position in one transaction, so that a killed program
//! resumes without loss, and nothing is counted twice:
//!
//! ```text
//!   logs ─▶ ship ─▶ foldline.logs ─▶ work ─▶ foldline.events ─▶ sink ─▶ SQLite
//!                                     │ ▲
//!                                     ▼ │
//!                       foldline.state, foldline.checkpoints
//! ```
//!
//! The broker stores messages, assigns partitions to workers and fences stale workers. This crate adds the
//! [`KafkaLedger`](ledger::KafkaLedger). [`Fleet`] is the program as a value, to which other crates add their
//! executors.
//!
//! `fleet/README.md` is for operators of a fleet: topics and their messages, sizing, failures, rights.
#![forbid(unsafe_code)]

mod cluster;
mod connection;
mod error;
mod exporter;
mod init;
pub mod ledger;
mod marks;
mod messages;
mod metric;
mod piece;
mod release;
mod run;
mod settings;
mod ship;
mod sink;
mod status;
mod work;

pub use self::run::Fleet;
