//! What programs of their own share with `foldline`, as `foldline-fleet` does.
//!
//! These are the parts that make them behave alike: which logs there are and how their formats are recognised, the
//! pipeline that folds them, a database with an audit trail beside it, options, tables, messages and exit codes.

pub use crate::{
    args::version,
    distinct::DistinctFiles,
    error::Error,
    homes::{DatabaseOption, data_folder, or_homes},
    log::Recognition,
    logging::log_to_stderr,
    options::{parse_seconds, parse_size, width},
    outputs::{Outputs, OutputsState, Records, whole_trails},
    signal::stop_flag,
    table::{Clip, Layout, write_table},
    verbs::ingest::at_or_below,
};

/// How a log is folded.
pub mod pipeline {
    pub use crate::pipeline::{
        LogEmitter, LogProcessor, LogReducer, LogState, begin, emitter, resume,
    };
}
