//! The verbs of the program, one file or folder each. `serve` is a separate module; the common parts of the
//! verbs that query the database are in `answer`.

pub(crate) mod allowed;
pub(crate) mod audit_key;
pub(crate) mod blocks;
pub(crate) mod check;
pub(crate) mod commands;
pub(crate) mod compare;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod errors;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod forget;
pub(crate) mod homes;
pub(crate) mod ingest;
pub(crate) mod keep;
mod limits;
pub(crate) mod pick;
pub(crate) mod prompts;
pub(crate) mod prune;
#[cfg(feature = "otlp")]
pub(crate) mod push;
pub(crate) mod query;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
#[cfg(feature = "serve")]
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod shell;
pub(crate) mod show;
pub(crate) mod statusline;
pub(crate) mod task;
pub(crate) mod today;
pub(crate) mod tools;
pub(crate) mod usage;
pub(crate) mod verify;

pub use self::export::Rows;
