//! How Droid's messages are told from other protocols.

use crate::executors::{
    evidence::Evidence::{self, Certain, Possible},
    wire::Object,
};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    if !object.has("jsonrpc") {
        return Evidence::None;
    }
    let method = object.get_str("method").unwrap_or_default();
    let versioned = object.has_any(&["factoryApiVersion", "factoryProtocolVersion"]);
    if versioned || method.starts_with("droid.") { Certain } else { Possible }
}
