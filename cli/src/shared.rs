//! The parts of `foldline` that other programs use, such as `foldline-fleet`.
//!
//! They make the programs behave alike: the discovery of logs and the recognition of formats, the pipeline that
//! folds logs, a database with an audit trail, options, tables, messages and exit codes.

pub use crate::{
    args::version,
    distinct::DistinctFiles,
    error::Error,
    finder::{Search, find},
    homes::{DatabaseOption, data_folder, or_homes},
    library::Answer,
    log::{Log, Recognition},
    logging::log_to_stderr,
    options::{parse_seconds, parse_size, width},
    origin::{host, user},
    outputs::{Outputs, OutputsState, TrailRecords, whole_trails},
    place::DatabasePlace,
    signal::stop_flag,
    table::{Clip, Layout, write_table},
    verbs::Rows,
};

/// The pipeline that folds a log.
pub mod pipeline {
    pub use crate::pipeline::{
        LogEmitter, LogProcessor, LogReducer, LogState, Moved, advance, begin, emitter,
        emitter_mut, resume,
    };
}
