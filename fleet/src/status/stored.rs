//! [`Stored`]: the progress of a sink, as its database states it, and what is missing.

use std::path::Path;

use foldline_cli::shared::DatabasePlace;
use serde::Serialize;

use crate::{
    error::Error,
    marks::{Deleted, Range},
    sink::{HeldSource, held, marks, name, name_of_deleted},
};

/// The offset up to which the events of a partition are stored.
#[derive(Debug, Serialize)]
pub(super) struct StoredPartition {
    partition: i32,
    pub(super) stored_to: Option<i64>,
}

/// The progress of a sink.
#[derive(Debug, Serialize)]
pub(super) struct Stored {
    pub(super) partitions: Vec<StoredPartition>,
    /// Events that were deleted before they were stored.
    pub(super) deleted: Vec<DeletedRange>,
    /// Sources whose events are not stored.
    pub(super) gaps: Vec<Gap>,
}

impl Stored {
    /// Reads the marks of a sink in a database, for this topic of events.
    pub(super) fn read(path: &Path, topic: &str, partitions: i32) -> Result<Self, Error> {
        let marks = marks(&DatabasePlace::of(path.as_os_str().to_owned()))?;
        let mark =
            |name: &str| marks.iter().find(|mark| mark.name == name).map(|it| it.state.clone());
        let mut stored = Self { partitions: Vec::new(), deleted: Vec::new(), gaps: Vec::new() };
        let held = held(marks.clone(), topic).into_iter();
        let unstored = held.filter(|held| !held.unstored.released);
        stored.gaps.extend(unstored.map(|HeldSource { source, unstored, .. }| Gap {
            source: source.to_string(),
            note: unstored.note,
        }));
        for partition in 0..partitions {
            let name = name(topic, partition);
            let offset = mark(&name);
            let stored_to = offset.and_then(|offset| offset.get().parse().ok());
            stored.partitions.push(StoredPartition { partition, stored_to });
            let deleted = Deleted::stored(mark(&name_of_deleted(&name)));
            stored.deleted.extend(DeletedRange::all(partition, &deleted));
        }
        Ok(stored)
    }
}

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
