//! The program `foldline`: the library's emitters and ledgers, composed into verbs.
//!
//! Each verb that reads a log drives the same `Processor` from the same source. Verbs differ in the
//! emitters that they compose, and in the ledger to which they commit. [`Program`] is the program as a
//! value, to which other crates add their executors and consumers. [`shared`] is for programs of their own.
#![forbid(unsafe_code)]

mod answer;
mod args;
mod choice;
#[cfg(feature = "otlp")]
mod client;
mod complete;
mod config;
mod dispatch;
mod distinct;
mod error;
mod finder;
mod help;
mod homes;
mod kept;
mod library;
mod log;
mod logging;
mod malformed;
#[cfg(feature = "mcp")]
mod mcp;
mod only;
mod options;
mod origin;
mod outputs;
mod pace;
mod pager;
mod panics;
mod pipeline;
mod place;
mod program;
mod project;
mod random;
#[cfg(any(feature = "serve", feature = "otlp"))]
mod received;
mod recipe;
mod removable;
mod say;
#[cfg(feature = "serve")]
mod serve;
pub mod shared;
mod signal;
mod sink;
mod table;
mod terminal;
mod verbs;
mod wrap;

pub use self::program::Program;

/// Exit codes of the program.
mod exit {
    pub(super) const SUCCESS: u8 = 0;
    pub(super) const FAILED: u8 = 1;
    pub(super) const USAGE: u8 = 2;
    pub(super) const MALFORMED: u8 = 3;
    pub(super) const NOT_FOUND: u8 = 4;
    pub(super) const CANCELLED: u8 = 130;
}

/// The snippets of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// And those of the design's questions and answers.
#[cfg(doctest)]
#[doc = include_str!("../../DESIGN.md")]
struct Design;
