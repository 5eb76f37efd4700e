//! The names of the marks of a sink in its database.

use crate::deleted::DELETED;

/// The name of the mark with the offset of the next event of a partition.
pub(crate) fn name(topic: &str, partition: i32) -> String {
    format!("kafka:{topic}/{partition}")
}

/// The name of the mark with the events of a partition that were deleted before they were stored.
pub(crate) fn name_of_deleted(name: &str) -> String {
    format!("{name} {DELETED}")
}
