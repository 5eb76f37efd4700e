//! The fleet: logs of many machines, folded once, through Apache Kafka.
//!
//! `ship` sends the lines of logs to a topic. `work` folds them into events, one state a source. `sink` puts the
//! events into a database. Each commits what it has done together with how far it has come, in one transaction, so
//! that whatever is killed goes on without a loss, and nothing is counted twice:
//!
//! ```text
//!   logs ─▶ ship ─▶ foldline.logs ─▶ work ─▶ foldline.events ─▶ sink ─▶ SQLite
//!                                     │ ▲
//!                                     ▼ │
//!                               foldline.state
//! ```
//!
//! The broker does what a broker does: it keeps messages, gives partitions to workers, fences stale ones. What is
//! ours is the [`KafkaLedger`](ledger::KafkaLedger). [`Fleet`] is the program as a value, to which other crates add
//! their executors.
//!
//! `fleet/README.md` is for those who run a fleet: topics and their messages, sizes, failures, rights.
#![forbid(unsafe_code)]

mod args;
mod cluster;
mod connection;
mod error;
mod exit;
mod exporter;
mod init;
pub mod ledger;
mod members;
mod piece;
mod place;
mod record;
mod run;
mod say;
mod settings;
mod ship;
mod sink;
mod sound;
mod status;
mod topics;
mod work;

pub use self::run::Fleet;
