//! [`Place`]: where states are stored; [`Stored`]: a state that is.

use foldline::{
    conversation::Position,
    ledger::{Checkpoint, SourceName},
};

use super::error::KafkaLedgerError;

/// The part of a topic that a ledger keeps its states in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The topic, which is compacted.
    pub topic: String,
    /// The partition.
    pub partition: i32,
}

/// The checkpoint of a source, as it is stored.
pub(super) struct Stored {
    pub(super) position: Position,
    /// A [`Checkpoint`] as JSON: few of many sources are looked at.
    pub(super) checkpoint: Box<str>,
    /// How many messages it is.
    pub(super) parts: usize,
}

impl Stored {
    pub(super) fn read(&self, source: &SourceName) -> Result<Checkpoint, KafkaLedgerError> {
        serde_json::from_str(&self.checkpoint).map_err(|error| {
            let (name, reason) = (source.to_string(), error.to_string());
            KafkaLedgerError::Damaged { name, reason }
        })
    }
}
