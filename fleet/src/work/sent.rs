//! [`Sent`]: the sources of which more was sent than their stored state covers.

use std::collections::HashMap;

use foldline::ledger::SourceName;

use crate::{
    ledger::{Cluster, KafkaLedger, KafkaLedgerError, Place},
    messages::{Extent, Reached},
};

/// The sources of which more was sent than their stored state covers, as their checkpoints state it. They are folded
/// again from that state, and events up to the checkpoint are not sent again.
#[derive(Default)]
pub(super) struct Sent {
    /// The extent of the checkpoint, or the reason why it cannot be read.
    extents: HashMap<SourceName, Result<Extent, String>>,
}

impl Sent {
    /// Compares the checkpoints of a partition with the stored states.
    pub(super) fn read(
        cluster: &Cluster,
        place: &Place,
        ledger: &KafkaLedger,
    ) -> Result<Self, KafkaLedgerError> {
        let mut extents = HashMap::new();
        cluster.read_topic(place, |key, value| {
            let source = SourceName::from(String::from_utf8_lossy(key).into_owned());
            match value.map(Reached::read) {
                None => drop(extents.remove(&source)),
                // Positions restart in a further file.
                Some(Ok(reached))
                    if reached.file == 0 && ledger.position(&source) == Some(reached.position) =>
                {
                    extents.remove(&source);
                }
                Some(Ok(reached)) => drop(extents.insert(source, Ok(reached.extent()))),
                Some(Err(error)) => drop(extents.insert(source, Err(error.to_string()))),
            }
        })?;
        Ok(Self { extents })
    }

    /// Whether there is a checkpoint of a source that its state may not cover.
    pub(super) fn has(&self, source: &SourceName) -> bool {
        self.extents.contains_key(source)
    }

    /// What was sent of a source, if that may be more than its state covers.
    pub(super) fn extent(&self, source: &SourceName) -> Result<Extent, String> {
        self.extents.get(source).cloned().unwrap_or(Ok(Extent::default()))
    }

    /// The state of a source is stored.
    pub(super) fn stored(&mut self, source: &SourceName, extent: Extent) {
        if let Some(Ok(sent)) = self.extents.get(source)
            && extent >= *sent
        {
            self.extents.remove(source);
        }
    }

    /// The sources.
    pub(super) fn sources(&self) -> impl Iterator<Item = &SourceName> {
        self.extents.keys()
    }
}
