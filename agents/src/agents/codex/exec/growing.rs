//! [`Growing`]: incomplete messages and thoughts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{codex::result::CodexResult, prelude::*};

/// The number of opened entries that are remembered.
const REMEMBERED: usize = 256;

type Cx<'s> = Context<'s, CodexResult>;

/// Incomplete messages and thoughts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Growing {
    /// The open texts by item.
    texts: BTreeMap<CorrId, Open>,
    /// The ids of the latest entries; an item that restarts needs a new id.
    opened: RecentIds,
    count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    corr_id: CorrId,
    text: Text,
}

impl Growing {
    pub(super) fn contains(&self, item: &CorrId) -> bool {
        self.texts.contains_key(item)
    }

    pub(super) fn open(&mut self, item: CorrId, entry: NormalizedEntry, cx: &mut Cx<'_>) {
        self.count += 1;
        let mut corr_id = CorrId::from(format!("{item}/text"));
        if self.opened.contains(&corr_id) {
            corr_id = CorrId::from(format!("{item}/text-{}", self.count));
        }
        self.opened.insert(corr_id.clone(), REMEMBERED);
        let text = entry.content.clone();
        self.texts.insert(item, Open { corr_id: corr_id.clone(), text });
        cx.open(corr_id, entry);
    }

    /// Updates an item with its whole text.
    pub(super) fn grow(&mut self, item: &CorrId, text: Text, cx: &mut Cx<'_>) {
        let Some(Open { corr_id, text: known }) = self.texts.get_mut(item) else { return };
        let grown = text.decode();
        let more = grown.strip_prefix(&*known.decode()).filter(|more| !more.is_empty());
        if let Some(more) = more.map(Text::from) {
            cx.grow(corr_id.clone(), more);
            *known = text;
        }
    }

    pub(super) fn close(&mut self, item: &CorrId, whole: NormalizedEntry, cx: &mut Cx<'_>) {
        if let Some(Open { corr_id, .. }) = self.texts.remove(item) {
            cx.close(corr_id, Some(whole));
        }
    }

    /// Closes all open texts at the end of the log.
    pub(super) fn finish(&mut self, cx: &mut Cx<'_>) {
        for (_, Open { corr_id, .. }) in std::mem::take(&mut self.texts) {
            cx.close(corr_id, None);
        }
    }
}
