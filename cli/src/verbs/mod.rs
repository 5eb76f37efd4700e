//! The verbs of the program, a file or a folder each. `serve` has a folder of its own; `answer` has those that ask a
//! database.

pub(crate) mod answer;
pub(crate) mod audit_key;
pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod ingest;
pub(crate) mod overview;
pub(crate) mod prune;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod shell;
pub(crate) mod task;
pub(crate) mod verify;
