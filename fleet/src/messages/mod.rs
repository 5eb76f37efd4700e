//! The messages of the topics that are an interface for other programs: events, patches and checkpoints.
//!
//! Each value is a JSON document by itself, with a [`VERSION`]; `foldline-fleet schema` prints their JSON Schema. The
//! header [`SOURCE`] names the source without parsing the value.

mod checkpoint;
mod envelope;
mod joiner;
#[cfg(test)]
mod position_schema;
#[cfg(test)]
mod renew;
mod text_part;

pub(crate) use self::{
    checkpoint::{Extent, Reached},
    envelope::{Received, Sender},
    joiner::Joiner,
};

/// The version of the messages, which is also in the `$id` of their [`SCHEMA`].
pub(crate) const VERSION: u32 = 1;

/// The header that names the source.
pub(crate) const SOURCE: &str = "source";

/// The JSON Schema (2020-12) of the messages.
pub(crate) const SCHEMA: &str = include_str!("messages.schema.json");

/// The reason why a value is not a message of this version.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnreadableMessage {
    #[error(transparent)]
    Json(#[from] serde_json::Error),

    #[error("it has version {0}, and this program reads version {VERSION}")]
    Version(u32),
}

/// Fails for another version.
fn ensure_version(version: u32) -> Result<(), UnreadableMessage> {
    match version {
        VERSION => Ok(()),
        other => Err(UnreadableMessage::Version(other)),
    }
}
