//! [`Unfolded`]: the reason why a source is not folded.

use foldline::ledger::SourceName;
use foldline_domain::Json;
use serde::{Deserialize, Serialize};

/// Prefix of the names of marks with an [`Unfolded`]; the name of the source follows.
pub(crate) const UNFOLDED: &str = "unfolded ";

/// The reason why a source is not folded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unfolded {
    pub(crate) note: String,
    /// The offset of the logs from which its partition has to be read again to fold it.
    pub(crate) from: i64,
}

impl Unfolded {
    /// The name of the mark of a source.
    pub(crate) fn mark(source: &SourceName) -> String {
        format!("{UNFOLDED}{source}")
    }

    /// Reads a mark; `None` if the source is folded.
    pub(crate) fn read(mark: &Json) -> Option<Self> {
        // Earlier versions stored only the note.
        let only_note = || Some(Self { note: serde_json::from_str(mark.get()).ok()?, from: 0 });
        serde_json::from_str(mark.get()).ok().or_else(only_note)
    }
}
