//! How Codex's rollout files are told from others.

use super::line::is_known;
use crate::executors::{evidence::Evidence, wire::Object};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    let kind = object.get_str("type").unwrap_or_default();
    Evidence::certain_if(is_known(&kind) && object.has("payload"))
}
