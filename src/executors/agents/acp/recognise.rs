//! How the Agent Client Protocol is told from other protocols.

use crate::executors::{
    evidence::{Evidence, nested},
    wire::Object,
};

pub(super) fn recognise(object: &Object<'_>) -> Evidence {
    if !object.has("jsonrpc") {
        return Evidence::None;
    }
    let is_own = match &*object.get_str("method").unwrap_or_default() {
        // Other protocols begin with `initialize` too; the Model Context Protocol counts its
        // versions by date.
        "initialize" => nested(object, "params")
            .and_then(|params| params.get("protocolVersion"))
            .is_some_and(|raw| raw.get().starts_with(|c: char| c.is_ascii_digit())),
        "" => {
            let answers = ["stopReason", "agentCapabilities", "authMethods"];
            nested(object, "result").is_some_and(|result| result.has_any(&answers))
        }
        method => ["session/", "fs/", "terminal/"].iter().any(|of| method.starts_with(of)),
    };
    if is_own { Evidence::Certain } else { Evidence::Possible }
}
