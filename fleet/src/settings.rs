//! The topics of a fleet: their names, their required settings, and problems of existing topics.

use std::collections::{BTreeMap, BTreeSet};

/// The role of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Logs,
    Events,
    Patches,
    State,
    Checkpoints,
    Shippers,
}

/// The smallest message size that librdkafka may need, which was the limit of very old brokers.
const MESSAGE: i64 = 1_000_012;

/// The value of brokers for "for ever".
const FOR_EVER: i64 = -1;

const DAY: i64 = 24 * 60 * 60 * 1000;

impl Role {
    pub(super) const ALL: [Self; 6] =
        [Self::Logs, Self::Events, Self::Patches, Self::State, Self::Checkpoints, Self::Shippers];

    /// The name of its topic.
    pub(super) fn topic(self, topics: &Topics) -> &str {
        match self {
            Self::Logs => &topics.logs,
            Self::Events => &topics.events,
            Self::Patches => &topics.patches,
            Self::State => &topics.state,
            Self::Checkpoints => &topics.checkpoints,
            Self::Shippers => &topics.shippers,
        }
    }

    /// The settings with which the topic is created.
    pub(super) fn settings(self, replicas: usize, retention: i64) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("min.insync.replicas", if replicas >= 3 { "2" } else { "1" }.to_owned()),
            ("unclean.leader.election.enable", "false".to_owned()),
            ("compression.type", "producer".to_owned()),
            ("message.timestamp.type", "CreateTime".to_owned()),
        ];
        match self {
            // A worker that takes over a partition reads all its states and checkpoints, including replaced ones that are
            // not removed yet. Segments are closed early, because only closed segments are compacted.
            Self::State | Self::Checkpoints => all.extend([
                ("cleanup.policy", "compact".to_owned()),
                ("min.cleanable.dirty.ratio", "0.1".to_owned()),
                ("segment.ms", "3600000".to_owned()),
                ("segment.bytes", (64 << 20).to_string()),
            ]),
            // Shippers that no longer exist are forgotten in the end.
            Self::Shippers => all.extend([
                ("cleanup.policy", "compact,delete".to_owned()),
                ("retention.ms", retention.to_string()),
                ("segment.ms", "3600000".to_owned()),
            ]),
            Self::Logs | Self::Events | Self::Patches => all.extend([
                ("cleanup.policy", "delete".to_owned()),
                ("retention.ms", retention.to_string()),
            ]),
        }
        all
    }
}

/// Days in milliseconds, the unit of brokers; 0 days means for ever.
pub(super) fn retention(days: u32) -> i64 {
    if days == 0 { FOR_EVER } else { i64::from(days) * DAY }
}

/// An existing topic.
#[derive(Clone, Debug)]
pub(super) struct ExistingTopic {
    pub(super) role: Role,
    pub(super) name: String,
    pub(super) partitions: usize,
    /// The smallest number of replicas of any partition.
    pub(super) replicas: usize,
    /// The partitions without a leader.
    pub(super) leaderless: Vec<i32>,
    /// Settings by name; `None` if this client may not read them.
    pub(super) settings: Option<BTreeMap<String, String>>,
}

impl ExistingTopic {
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.as_ref()?.get(name).map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.setting(name)?.parse().ok()
    }

    /// Human-readable retention.
    pub(super) fn kept(&self) -> String {
        match (self.role, self.setting("retention.ms").and_then(|text| text.parse().ok())) {
            (Role::State | Role::Checkpoints, _) => "the latest of each".to_owned(),
            (_, Some(milliseconds)) => period(milliseconds),
            (_, None) => String::new(),
        }
    }
}

/// A human-readable period from milliseconds.
fn period(milliseconds: i64) -> String {
    let of = |count: i64, what| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    match milliseconds {
        ..0 => "for ever".to_owned(),
        it if it % DAY == 0 => of(it / DAY, "day"),
        it if it % (DAY / 24) == 0 => of(it / (DAY / 24), "hour"),
        it if it % 1000 == 0 => of(it / 1000, "second"),
        it => of(it, "millisecond"),
    }
}

/// The result of checking the topics.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Violations of the guarantee that nothing is lost or counted twice.
    pub(super) wrong: Vec<String>,
    /// Further remarks.
    pub(super) notes: Vec<String>,
}

/// Compares topics with the requirements; partitions and retention only if values are `asked` for.
pub(super) fn judge(
    found: &[ExistingTopic],
    brokers: usize,
    partitions: Option<usize>,
    retention: Option<i64>,
) -> Verdict {
    let mut verdict = Verdict::default();
    verdict.wrong.extend(count(found, partitions));
    for topic in found {
        one(topic, brokers, retention, &mut verdict);
    }
    verdict
}

/// Checks the numbers of partitions.
fn count(found: &[ExistingTopic], asked: Option<usize>) -> Option<String> {
    const WAY_OUT: &str = "sources stay in the partition that they were sent to, so the number cannot be changed \
                           later: delete these topics and run `foldline-fleet init` again, or use another --prefix";
    let counts: BTreeSet<_> = found.iter().map(|topic| topic.partitions).collect();
    let each: Vec<_> =
        found.iter().map(|topic| format!("{} has {}", topic.name, topic.partitions)).collect();
    match (counts.len(), asked) {
        (0, _) => None,
        (1, None) => None,
        (1, Some(asked)) if counts.contains(&asked) => None,
        (1, Some(asked)) => Some(format!(
            "{asked} partitions were requested, but the topics have other numbers ({}); {WAY_OUT}",
            each.join(", ")
        )),
        _ => Some(format!(
            "the topics must have the same number of partitions ({}); {WAY_OUT}",
            each.join(", ")
        )),
    }
}

/// Compares one topic with its requirements.
fn one(
    topic: &ExistingTopic,
    brokers: usize,
    retention: Option<i64>,
    Verdict { wrong, notes }: &mut Verdict,
) {
    let ExistingTopic { role, name, replicas, .. } = topic;
    if *replicas == 1 && brokers > 1 {
        notes.push(format!(
            "{name} has 1 replica on {brokers} brokers: it is lost if that broker's disk fails; add replicas \
             (kafka-reassign-partitions)"
        ));
    }
    if topic.settings.is_none() {
        notes.push(format!(
            "the settings of {name} cannot be checked: this needs the right DESCRIBE_CONFIGS on the topic"
        ));
        return;
    }
    let set = |what: &str, value: &str| format!("set {what}={value} on the topic {name}");
    let policy = topic.setting("cleanup.policy").unwrap_or_default();
    let compacts = policy.split(',').any(|part| part.trim() == "compact");
    match role {
        Role::State | Role::Checkpoints if policy != "compact" => wrong.push(format!(
            "{name} has cleanup.policy={policy}, which deletes the positions of sources; {}",
            set("cleanup.policy", "compact")
        )),
        Role::Shippers if !compacts => wrong.push(format!(
            "{name} has cleanup.policy={policy}, which keeps every heartbeat; {}",
            set("cleanup.policy", "compact,delete")
        )),
        Role::Logs | Role::Events | Role::Patches if compacts => wrong.push(format!(
            "{name} has cleanup.policy={policy}, which removes all but the latest message of a key; {}",
            set("cleanup.policy", "delete")
        )),
        _ => {}
    }
    if let Some(insync) = topic.number("min.insync.replicas") {
        if *replicas >= 3 && insync < 2 {
            wrong.push(format!(
                "{name} has min.insync.replicas={insync}, so a message may be lost with one broker; {}",
                set("min.insync.replicas", "2")
            ));
        }
        if usize::try_from(insync).is_ok_and(|insync| insync > *replicas) {
            wrong.push(format!(
                "{name} has min.insync.replicas={insync} and {replicas} replicas, so nothing can be written; {}",
                set("min.insync.replicas", if *replicas >= 3 { "2" } else { "1" })
            ));
        }
    }
    if topic.setting("unclean.leader.election.enable") == Some("true") {
        wrong.push(format!(
            "{name} has unclean.leader.election.enable=true, which may lose acknowledged messages; {}",
            set("unclean.leader.election.enable", "false")
        ));
    }
    if let Some(longest) = topic.number("max.message.bytes").filter(|&longest| longest < MESSAGE) {
        wrong.push(format!(
            "{name} has max.message.bytes={longest}, but messages may be longer; {}",
            set("max.message.bytes", "1048588")
        ));
    }
    differences(topic, retention, notes);
}

/// Harmless differences from the settings of a new topic.
fn differences(topic: &ExistingTopic, retention: Option<i64>, notes: &mut Vec<String>) {
    let ExistingTopic { role, name, .. } = topic;
    for (setting, usual) in
        [("compression.type", "producer"), ("message.timestamp.type", "CreateTime")]
    {
        match topic.setting(setting) {
            Some(value) if value != usual => {
                notes.push(format!(
                    "{name} has {setting}={value}; init creates topics with {usual}"
                ));
            }
            _ => {}
        }
    }
    if matches!(role, Role::State | Role::Checkpoints) {
        return;
    }
    match (topic.number("retention.ms"), retention) {
        (Some(kept), Some(asked)) if kept != asked => notes.push(format!(
            "{name} keeps messages for {} instead of the requested {}; set retention.ms={asked} on the \
             topic {name} to change it",
            period(kept),
            period(asked)
        )),
        _ => {}
    }
    if let Some(bytes) = topic.number("retention.bytes").filter(|&bytes| bytes >= 0) {
        notes.push(format!(
            "{name} keeps {bytes} bytes per partition (retention.bytes): older messages are deleted, whether read or not"
        ));
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn made(role: Role, partitions: usize, replicas: usize) -> ExistingTopic {
        let settings = role.settings(replicas, retention(7)).into_iter();
        ExistingTopic {
            role,
            name: role.topic(&Topics::new("p")).to_owned(),
            partitions,
            replicas,
            leaderless: Vec::new(),
            settings: Some(settings.map(|(name, value)| (name.to_owned(), value)).collect()),
        }
    }

    fn all(replicas: usize) -> Vec<ExistingTopic> {
        Role::ALL.map(|role| made(role, 8, replicas)).into()
    }

    #[test]
    fn topics_as_they_are_made_are_as_they_must_be() {
        for (replicas, brokers) in [(1, 1), (2, 2), (3, 3), (3, 5)] {
            let verdict = judge(&all(replicas), brokers, Some(8), Some(retention(7)));
            assert!(verdict.wrong.is_empty() && verdict.notes.is_empty(), "{verdict:?}");
        }
    }

    #[test]
    fn what_breaks_the_promise_names_the_setting_and_the_topic() {
        for (role, name, value, way_out) in [
            (
                Role::State,
                "cleanup.policy",
                "compact,delete",
                "cleanup.policy=compact on the topic p.state",
            ),
            (
                Role::Checkpoints,
                "cleanup.policy",
                "delete",
                "cleanup.policy=compact on the topic p.checkpoints",
            ),
            (Role::Logs, "cleanup.policy", "compact", "cleanup.policy=delete on the topic p.logs"),
            (
                Role::Events,
                "cleanup.policy",
                "delete,compact",
                "cleanup.policy=delete on the topic p.events",
            ),
            (Role::Logs, "min.insync.replicas", "1", "min.insync.replicas=2 on the topic p.logs"),
            (Role::State, "min.insync.replicas", "4", "min.insync.replicas=2 on the topic p.state"),
            (
                Role::State,
                "unclean.leader.election.enable",
                "true",
                "election.enable=false on the topic p.state",
            ),
            (
                Role::Logs,
                "max.message.bytes",
                "1000",
                "max.message.bytes=1048588 on the topic p.logs",
            ),
        ] {
            let mut found = all(3);
            let topic = found.iter_mut().find(|topic| topic.role == role).unwrap();
            topic.settings.as_mut().unwrap().insert(name.to_owned(), value.to_owned());
            let verdict = judge(&found, 3, None, None);
            assert_eq!(verdict.wrong.len(), 1, "{verdict:?}");
            assert!(verdict.wrong[0].contains(way_out), "{verdict:?}");
        }
    }

    #[test]
    fn partitions_are_as_many_in_all_topics() {
        let mut found = all(1);
        assert!(judge(&found, 1, Some(4), None).wrong[0].contains("4 partitions were requested"));
        found[3].partitions = 9;
        let verdict = judge(&found, 1, None, None);
        assert!(verdict.wrong[0].contains("p.state has 9"), "{verdict:?}");
    }

    #[test]
    fn what_does_no_harm_is_said() {
        let mut found = all(1);
        found[0].settings.as_mut().unwrap().insert("retention.bytes".to_owned(), "9".to_owned());
        found[3].settings = None;
        let Verdict { wrong, notes } = judge(&found, 3, None, Some(FOR_EVER));
        assert!(wrong.is_empty(), "{wrong:?}");
        let said = notes.join("\n");
        for part in [
            "1 replica on 3 brokers",
            "7 days instead of the requested for ever",
            "9 bytes",
            "DESCRIBE_CONFIGS",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }

    #[test]
    fn periods() {
        let said = [-1, DAY, 7 * DAY, 3_600_000, 90_000, 1].map(period);
        assert_eq!(said, ["for ever", "1 day", "7 days", "1 hour", "90 seconds", "1 millisecond"]);
    }
}
