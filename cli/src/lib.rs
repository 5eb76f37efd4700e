//! The program `foldline`: the library's emitters and ledgers, composed into verbs.
//!
//! Each verb that reads a log drives the same `Processor` from the same source. What differs is the
//! emitter that it composes, and the ledger that it commits to. [`Program`] is the program as a value,
//! to which other crates add executors and consumers of their own.
#![forbid(unsafe_code)]

mod args;
mod beside;
mod doctor;
mod error;
mod files;
mod ingest;
mod log;
mod options;
mod pace;
mod pipeline;
mod program;
mod prune;
mod query;
mod replay;
mod run;
mod signal;
mod sink;
mod table;
mod task;
mod verify;

pub use self::program::Program;

/// Exit codes of the program.
mod exit {
    pub(super) const FINE: u8 = 0;
    pub(super) const FAILED: u8 = 1;
    pub(super) const WRONG_USE: u8 = 2;
    pub(super) const MALFORMED: u8 = 3;
    pub(super) const NOT_FOUND: u8 = 4;
}
