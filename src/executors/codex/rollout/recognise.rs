//! How Codex's rollout files are told from others.

use crate::executors::{executor::Evidence, wire::Object};

pub(super) fn recognise(_object: &Object<'_>) -> Evidence {
    Evidence::None
}
