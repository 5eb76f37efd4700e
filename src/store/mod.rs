//! What outlives a process or a reader. With the feature `store`: the live document with its
//! subscribers.

#[cfg(feature = "store")]
mod msg_store;

#[cfg(feature = "store")]
pub use self::msg_store::{DEFAULT_CAPACITY, MsgStore, Snapshot, Subscription, Update};
