//! Fingerprints of content: records with the same uuid are copies only if their content is equal.

use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use foldline_json::Raw;

use crate::{dialect::anthropic::Message, wire::Object};

/// Takes the message of a record, and sets `content` to the fingerprint of its content.
pub(super) fn take_message<'a>(object: &mut Object<'a>, content: &mut u64) -> Option<Message<'a>> {
    let message = object.object("message")?;
    *content = message.get("content").map_or(0, fingerprint);
    Some(Message::take(message))
}

/// A hash that does not depend on the platform.
pub(super) fn fingerprint(content: Raw<'_>) -> u64 {
    FixedState::with_seed(0).hash_one(content.get())
}
