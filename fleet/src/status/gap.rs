//! [`Gap`] and [`DeletedRange`]: what is missing.

use serde::Serialize;

use crate::deleted::{Deleted, Range};

/// A source that is held back.
#[derive(Debug, Serialize)]
pub(super) struct Gap {
    pub(super) source: String,
    pub(super) note: String,
}

/// Messages of a partition that were deleted before they were read.
#[derive(Debug, Serialize)]
pub(super) struct DeletedRange {
    pub(super) partition: i32,
    #[serde(flatten)]
    pub(super) range: Range,
}

impl DeletedRange {
    /// All of a partition.
    pub(super) fn all(partition: i32, deleted: &Deleted) -> impl Iterator<Item = Self> {
        deleted.ranges().iter().map(move |&range| Self { partition, range })
    }
}
