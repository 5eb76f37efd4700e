//! [`Topics`]: the names of a fleet's topics.

/// The topics of a fleet. All have the same number of partitions: partition N of a topic is derived from partition N
/// of the logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topics {
    prefix: String,
    /// Lines of logs, by source.
    pub(crate) logs: String,
    /// Domain events, by session.
    pub(crate) events: String,
    /// JSON Patches, by session.
    pub(crate) patches: String,
    /// The latest state of each source.
    pub(crate) state: String,
    /// The position reached in each source.
    pub(crate) checkpoints: String,
    /// The latest heartbeat of each shipper.
    pub(crate) shippers: String,
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
            checkpoints: name("checkpoints"),
            shippers: name("shippers"),
        }
    }

    /// The group name of a sink, under which it reports its offsets; a fleet with several sinks gives them names.
    pub(crate) fn sink_group(&self, name: Option<&str>) -> String {
        let group = format!("{}.sink", self.prefix);
        name.map_or(group.clone(), |name| format!("{group}.{name}"))
    }

    /// The group name of the workers, which is also the prefix of their transactional ids.
    pub(crate) fn group(&self) -> String {
        format!("{}.work", self.prefix)
    }
}
