//! [`Unusable`]: the reason why a message cannot be used.

use crate::messages::UnreadableMessage;

/// The reason why a message cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    #[error(transparent)]
    Message(#[from] UnreadableMessage),

    #[error(
        "the events {first} to {last} before it are missing, which may have been deleted before this sink read them"
    )]
    Missing { first: u64, last: u64 },
}
