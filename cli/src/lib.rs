//! The program `foldline`: the library's emitters and ledgers, composed into verbs.
//!
//! Each verb that reads a log drives the same `Processor` from the same source. Verbs differ in the
//! emitters that they compose, and in the ledger to which they commit. [`Program`] is the program as a
//! value, to which other crates add their executors and consumers. [`shared`] is for programs of their own.
#![forbid(unsafe_code)]

mod agent;
mod answer;
mod args;
mod check;
mod config;
mod distinct;
mod doctor;
mod error;
mod export;
mod files;
mod homes;
mod ingest;
mod keys;
mod log;
mod logging;
mod malformed;
mod options;
mod outputs;
mod overview;
mod pace;
mod pager;
mod pipeline;
mod program;
mod prune;
mod replay;
mod run;
mod say;
#[cfg(feature = "serve")]
mod serve;
pub mod shared;
mod shell;
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
