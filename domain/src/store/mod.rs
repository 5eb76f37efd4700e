//! `MsgStore`: the live document and its subscribers.

mod msg_store;
mod recent;
mod sequenced;

pub use self::{
    msg_store::{DocumentSnapshot, MsgStore, Subscription, TryNextError, Update, UpdateId},
    recent::Recent,
    sequenced::Sequenced,
};
