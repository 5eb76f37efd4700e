//! [`Topics`]: the topics of a fleet, by their names.

/// The topics of a fleet. All have the same number of partitions: what stands in partition N of one was made from
/// partition N of the logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topics {
    prefix: String,
    /// Lines of logs, by source.
    pub(crate) logs: String,
    /// Domain events, by session, and how far each source has come.
    pub(crate) events: String,
    /// JSON Patches, by session.
    pub(crate) patches: String,
    /// The latest state of each source.
    pub(crate) state: String,
}

impl Topics {
    pub(crate) fn new(prefix: &str) -> Self {
        let name = |what| format!("{prefix}.{what}");
        Self {
            prefix: prefix.to_owned(),
            logs: name("logs"),
            events: name("events"),
            patches: name("patches"),
            state: name("state"),
        }
    }

    /// The name of the group of workers, which the ids of their transactions begin with.
    pub(crate) fn group(&self) -> String {
        format!("{}.work", self.prefix)
    }
}
