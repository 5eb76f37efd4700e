//! The messages of the topics that are an interface for other programs: events, patches and checkpoints.
//!
//! Each value is a JSON document by itself, with a [`VERSION`]; `foldline-fleet schema` prints their JSON Schema. The
//! header [`SOURCE`] names the source without parsing the value.

mod envelope;
#[cfg(test)]
mod renew;

use foldline_domain::{Position, TaskId};
use serde::{Deserialize, Serialize};

pub(crate) use self::envelope::{Joiner, Received, Sender};

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

/// The position reached in a source, sent with the events up to there. The topic keeps the latest one of each source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Reached {
    /// The version of this message.
    pub(crate) version: u32,
    /// The source: the name of a log in this fleet.
    pub(crate) source: String,
    /// The machine of the log.
    pub(crate) host: String,
    /// The user whose log it is, if the machine knows it.
    #[serde(default)]
    pub(crate) user: Option<String>,
    /// The path of the log on its machine.
    pub(crate) path: String,
    /// The format of the log.
    pub(crate) format: String,
    /// The task of the sessions in the log, if it was specified when it was shipped.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(crate) task: Option<TaskId>,
    /// The number of earlier files of the log: it continues in another one after a rotation.
    pub(crate) file: u64,
    /// The position of the next record in this file.
    #[cfg_attr(test, schemars(with = "renew::PositionSchema"))]
    pub(crate) position: Position,
    /// The number of events so far, which is the `sequence` of the last one.
    pub(crate) events: u64,
    /// The log is complete.
    pub(crate) complete: bool,
}

impl Reached {
    /// Reads a value.
    pub(crate) fn read(value: &[u8]) -> Result<Self, UnreadableMessage> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        ensure_version(serde_json::from_slice::<Versioned>(value)?.version)?;
        Ok(serde_json::from_slice(value)?)
    }

    /// How much of the source it covers: of two checkpoints, the later one is greater.
    pub(crate) fn extent(&self) -> Extent {
        Extent {
            events: self.events,
            file: self.file,
            offset: self.position.offset,
            complete: self.complete,
        }
    }
}

/// How much of a source is covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Extent {
    pub(crate) events: u64,
    pub(crate) file: u64,
    #[serde(default)]
    pub(crate) offset: u64,
    #[serde(default)]
    pub(crate) complete: bool,
}
