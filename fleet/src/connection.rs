//! [`Connection`]: a client that reads metadata of a cluster; [`await_sound`]: checks the topics of a fleet.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use foldline_render::terminal::neutralise_line;
use rdkafka::{
    ClientConfig, ClientContext, Offset, TopicPartitionList,
    admin::{AdminClient, AdminOptions, ResourceSpecifier},
    client::DefaultClientContext,
    consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext},
    error::{KafkaError, RDKafkaErrorCode},
    metadata::{Metadata, MetadataPartition},
};
use tokio::runtime::{Builder, Runtime};

use crate::{
    error::{Error, locked, report},
    settings::{ExistingTopic, Role, Topics, judge},
};

/// Timeout of a request to the cluster.
pub(super) const WAIT: Duration = Duration::from_secs(8);

/// Records connection errors: the error of a call says only that there is no connection.
#[derive(Default)]
pub(super) struct ConnectionErrors(Mutex<Option<Reason>>);

/// The reason why there is no connection.
struct Reason {
    text: String,
    /// The brokers reject the credentials, which waiting does not change.
    is_denied: bool,
}

impl ClientContext for ConnectionErrors {
    fn error(&self, error: KafkaError, reason: &str) {
        tracing::warn!("librdkafka: {error}: {reason}");
        // `AllBrokersDown` is a consequence: the errors of the individual brokers are more specific.
        if error.rdkafka_error_code() != Some(RDKafkaErrorCode::AllBrokersDown) {
            let mut heard = locked(&self.0);
            let text = neutralise_line(reason).into_owned();
            let is_denied = error.rdkafka_error_code() == Some(RDKafkaErrorCode::Authentication);
            // A connection that is closed for that reason is another error.
            if !heard.as_ref().is_some_and(|known| known.is_denied) {
                *heard = Some(Reason { text, is_denied });
            }
        }
    }
}

impl ConsumerContext for ConnectionErrors {}

/// A client that reads from a cluster and never changes it by reading.
pub(super) struct Connection {
    addresses: String,
    /// Requests use a consumer: a producer that asks about a topic may create it.
    pub(super) consumer: BaseConsumer<ConnectionErrors>,
    admin: AdminClient<DefaultClientContext>,
    runtime: Runtime,
}

/// The brokers and topics of a cluster that concern a fleet.
pub(super) struct Cluster {
    /// The number of brokers.
    pub(super) brokers: usize,
    /// The existing topics of the fleet.
    pub(super) found: Vec<ExistingTopic>,
    /// Internal topics of the cluster with a single replica, although there are several brokers.
    pub(super) kept_once: Vec<&'static str>,
}

impl Connection {
    /// A connection with the rights of a member of this group, without joining it.
    pub(super) fn open(client: &ClientConfig, group: &str) -> Result<Self, Error> {
        let addresses = client.get("bootstrap.servers").unwrap_or_default();
        let addresses = neutralise_line(addresses).into_owned();
        let failed = |error| Error::Cluster { doing: "create a client".to_owned(), error };
        let mut config = client.clone();
        config
            .set("group.id", group)
            .set("enable.auto.commit", "false")
            .set("isolation.level", "read_committed");
        let consumer = config.create_with_context(ConnectionErrors::default()).map_err(failed)?;
        let admin = client.create().map_err(failed)?;
        let runtime = Builder::new_current_thread().build();
        let runtime = runtime
            .map_err(|error| Error::Start { what: "the runtime that waits for brokers", error })?;
        Ok(Self { addresses, consumer, admin, runtime })
    }

    /// The metadata of the cluster: brokers and topics.
    pub(super) fn metadata(&self) -> Result<Metadata, Error> {
        self.consumer.fetch_metadata(None, WAIT).map_err(|error| {
            // Polling handles error events.
            let begun = Instant::now();
            while self.consumer.poll(Duration::from_millis(10)).is_some()
                && begun.elapsed() < Duration::from_secs(1)
            {}
            let reason = locked(&self.consumer.context().0).take();
            let brokers = self.addresses.clone();
            match reason {
                Some(Reason { text: reason, is_denied: true }) => Error::Denied { brokers, reason },
                Some(Reason { text: reason, .. }) => Error::Unreachable { brokers, reason },
                None => Error::Unreachable { brokers, reason: error.to_string() },
            }
        })
    }

    /// An error while `doing` something, for `map_err`.
    pub(super) fn failed(&self, doing: &str) -> impl Fn(KafkaError) -> Error + use<> {
        let doing = format!("{doing} (brokers: {})", self.addresses);
        move |error| Error::Cluster { doing: doing.clone(), error }
    }

    /// Inspects the topics of the fleet.
    pub(super) fn look(&self, topics: &Topics) -> Result<Cluster, Error> {
        let metadata = self.metadata()?;
        let brokers = metadata.brokers().len();
        let least = |name: &str| {
            let topic = metadata.topics().iter().find(|topic| topic.name() == name)?;
            topic.partitions().iter().map(|partition| partition.replicas().len()).min()
        };
        let is_leaderless = |partition: &&MetadataPartition| partition.leader() < 0;
        let mut found = Vec::new();
        for role in Role::ALL {
            let name = role.topic(topics);
            let Some(topic) = metadata.topics().iter().find(|topic| topic.name() == name) else {
                continue;
            };
            if topic.partitions().is_empty() {
                continue;
            }
            found.push(ExistingTopic {
                role,
                name: name.to_owned(),
                partitions: topic.partitions().len(),
                replicas: least(name).unwrap_or_default(),
                leaderless: topic
                    .partitions()
                    .iter()
                    .filter(is_leaderless)
                    .map(MetadataPartition::id)
                    .collect(),
                settings: None,
            });
        }
        // Brokers learn of new topics at different times, and the broker that answers may not be the one that
        // reported the topic.
        let begun = Instant::now();
        while !self.describe(&mut found)? && begun.elapsed() < WAIT {
            thread::sleep(Duration::from_millis(50));
        }
        let own = ["__transaction_state", "__consumer_offsets"].into_iter();
        let kept_once = own.filter(|name| brokers > 1 && least(name) == Some(1)).collect();
        Ok(Cluster { brokers, found, kept_once })
    }

    /// Requests the settings of topics. Settings that this client may not read are omitted. Returns whether the
    /// broker that answered knows the topics.
    fn describe(&self, found: &mut [ExistingTopic]) -> Result<bool, Error> {
        if found.is_empty() {
            return Ok(true);
        }
        let mut is_known = true;
        let names: Vec<_> = found.iter().map(|topic| topic.name.clone()).collect();
        let topics: Vec<_> = names.iter().map(|name| ResourceSpecifier::Topic(name)).collect();
        let asked = self.admin.describe_configs(&topics, &options());
        let described =
            self.runtime.block_on(asked).map_err(self.failed("read the settings of topics"))?;
        for (topic, described) in found.iter_mut().zip(described) {
            let entries = match described {
                Ok(described) => described.entries,
                Err(
                    RDKafkaErrorCode::TopicAuthorizationFailed
                    | RDKafkaErrorCode::ClusterAuthorizationFailed,
                ) => continue,
                Err(RDKafkaErrorCode::UnknownTopicOrPartition) => Vec::new(),
                Err(code) => {
                    let doing = format!("read the settings of {}", topic.name);
                    return Err(self.failed(&doing)(KafkaError::AdminOp(code)));
                }
            };
            is_known &= !entries.is_empty();
            let settings = entries.into_iter().filter_map(|entry| Some((entry.name, entry.value?)));
            topic.settings =
                Some(settings.collect()).filter(|all: &BTreeMap<_, _>| !all.is_empty());
        }
        Ok(is_known)
    }

    /// Creates topics. A topic that another client has created in the meantime is accepted.
    pub(super) fn make(&self, topics: &[rdkafka::admin::NewTopic<'_>]) -> Result<(), Error> {
        let failed = self.failed("create the topics");
        let made = self.runtime.block_on(self.admin.create_topics(topics, &options()));
        for made in made.map_err(&failed)? {
            match made {
                Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
                Err((name, code)) => {
                    let doing = format!("create the topic {name}");
                    return Err(self.failed(&doing)(KafkaError::AdminOp(code)));
                }
            }
        }
        Ok(())
    }
}

fn options() -> AdminOptions {
    AdminOptions::new().request_timeout(Some(WAIT)).operation_timeout(Some(WAIT))
}

/// The pause between two requests to brokers that do not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// Checks the topics of a fleet; the topics in `needed` must exist.
///
/// Other topics and settings that cannot be read are not an error: a worker does not need the right to read settings,
/// nor a sink the right to see topics that it does not read.
fn ensure_sound(client: &ClientConfig, topics: &Topics, needed: &[Role]) -> Result<(), Error> {
    let connection = Connection::open(client, &topics.group())?;
    let cluster = connection.look(topics)?;
    let mut verdict = judge(&cluster.found, cluster.brokers, None, None);
    verdict.wrong.extend(missing(topics, &cluster.found, needed));
    for note in &verdict.notes {
        tracing::warn!("{note}");
    }
    match verdict.wrong.is_empty() {
        true => Ok(()),
        false => Err(Error::Unsound(verdict.wrong)),
    }
}

/// The same, as soon as the brokers answer: a program that is started while they are unreachable need not be
/// restarted. `false` if the program receives a signal to end in the meantime. After `limit` it is an error.
pub(super) fn await_sound(
    client: &ClientConfig,
    topics: &Topics,
    needed: &[Role],
    stop: &AtomicBool,
    limit: Option<Duration>,
) -> Result<bool, Error> {
    let (mut is_reported, begun) = (false, Instant::now());
    while !stop.load(Ordering::Relaxed) {
        match ensure_sound(client, topics, needed) {
            Err(error @ (Error::Unreachable { .. } | Error::Cluster { .. }))
                if limit.is_none_or(|limit| begun.elapsed() < limit) =>
            {
                if !std::mem::replace(&mut is_reported, true) {
                    report(&format!(
                        "the brokers do not answer ({error}); nothing is lost, this program begins when they answer"
                    ));
                }
                thread::sleep(PAUSE);
            }
            ended => {
                if is_reported && ended.is_ok() {
                    report("the brokers are back");
                }
                return ended.map(|()| true);
            }
        }
    }
    Ok(false)
}

/// A message that names the missing topics among the needed ones.
pub(super) fn missing(topics: &Topics, found: &[ExistingTopic], needed: &[Role]) -> Option<String> {
    let is_found = |role: Role| found.iter().any(|topic| topic.role == role);
    let missing = needed.iter().filter(|role| !is_found(**role));
    let names: Vec<_> = missing.map(|role| role.topic(topics)).collect();
    match names.is_empty() {
        true => None,
        false => Some(format!(
            "there is no topic {}, or this client may not see it; run `foldline-fleet init`",
            names.join(", ")
        )),
    }
}

/// Reports the offsets of the next messages to the group of a consumer, for programs that monitor lag. Nothing depends
/// on them: the authoritative offsets are in the database of a sink, and in the transactions of a worker. (A
/// transaction can also commit offsets of a group, but librdkafka waits for ever if the coordinator of the group is
/// lost at the wrong moment.)
pub(crate) fn report_offsets<C: ConsumerContext>(
    topic: &str,
    consumer: &BaseConsumer<C>,
    next: impl IntoIterator<Item = (i32, i64)>,
    mode: CommitMode,
) {
    let mut offsets = TopicPartitionList::new();
    let reported = next
        .into_iter()
        .try_for_each(|(partition, next)| {
            offsets.add_partition_offset(topic, partition, Offset::Offset(next))
        })
        .and_then(|()| consumer.commit(&offsets, mode));
    if let Err(error) = reported {
        tracing::debug!(%error, topic, "cannot report the offsets to the group");
    }
}
