//! `MsgStore`: the live document and its subscribers.

mod msg_store;

pub use self::msg_store::{
    DEFAULT_CAPACITY, DocumentSnapshot, MsgStore, Subscription, TryNextError, Update,
};
