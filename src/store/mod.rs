//! The live document, for those who watch it: `MsgStore`.

mod msg_store;

pub use self::msg_store::{
    DEFAULT_CAPACITY, DocumentSnapshot, MsgStore, Subscription, TryNextError, Update,
};
