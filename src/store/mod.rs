//! What outlives a process: where each source has been read to, together with what was made of it.

mod ledger;

pub use self::ledger::{
    Checkpoint, Commit, CommitError, Identity, Ledger, OutputState, Receipt, SourceFacts,
    SourceName,
};
