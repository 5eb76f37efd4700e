//! The module `foldline._foldline`, below the package of Python in `python/foldline`.
//!
//! What it computes, it computes without the lock of the interpreter, and looks for signals now and then. Errors are
//! `FoldlineError`s with the messages of the program; so is a panic, which would be a defect.
#![forbid(unsafe_code)]
#![allow(clippy::needless_pass_by_value, reason = "arguments are converted from objects of Python")]

mod ask;
mod emitter;
mod error;
mod events;
mod log;
mod table;

use pyo3::pymodule;

/// The module.
#[pymodule]
mod _foldline {
    #[pymodule_export]
    use crate::{
        ask::ask,
        emitter::BuiltIn,
        error::FoldlineError,
        events::Events,
        log::{conversations, fan_out, recognise, sinks, tables},
        table::Table,
    };
}
