//! What outlives a process or a reader: where each source has been read to, together with what was made
//! of it, and with the feature `store` the live document with its subscribers.

mod ledger;
#[cfg(feature = "store")]
mod msg_store;

pub use self::ledger::{
    Checkpoint, Commit, CommitError, Identity, Ledger, OutputState, Receipt, SourceFacts,
    SourceName,
};
#[cfg(feature = "store")]
pub use self::msg_store::{DEFAULT_CAPACITY, MsgStore, Snapshot, Subscription, Update};
