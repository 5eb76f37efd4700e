//! `foldline-fleet init`: creates the topics of a fleet, or checks existing ones.

use std::{
    io::{self, Write},
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use foldline_cli::shared::{Clip, Layout, width, write_table};
use rdkafka::{
    ClientConfig,
    admin::{NewTopic, TopicReplication},
    producer::{BaseProducer, Producer},
};

use crate::{
    cluster::ClusterArgs,
    connection::{Cluster, Connection, missing},
    error::{Error, report},
    settings::{ExistingTopic, Role, Topics, Verdict, judge, retention},
};

/// The default number of partitions of a topic.
const PARTITIONS: usize = 8;

/// The default number of replicas.
const REPLICAS: usize = 3;

/// How long new topics may take to become known to every broker.
const PATIENCE: Duration = Duration::from_secs(30);

const INIT_EXIT_CODES: &str = "\
Exit codes:
  0  the topics are correct
  1  they are not, or the brokers cannot be reached
  2  wrong use

A topic that is there is never changed: what must be changed is said. Whether the cluster does transactions is
tried with an empty one, also with --check.";

/// The options of `foldline-fleet init`.
#[derive(Debug, Args)]
#[command(after_help = INIT_EXIT_CODES)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    cluster: ClusterArgs,

    /// Only check: create nothing
    #[arg(long)]
    check: bool,

    /// The number of partitions of each topic, which limits the number of workers that share the work. It cannot be
    /// changed later [default: as in existing topics, else 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    partitions: Option<u32>,

    /// The number of replicas of each message [default: 3, or the number of brokers if there are fewer]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    replication: Option<u16>,

    /// Days for which lines, events and patches are kept; 0 for ever
    #[arg(long, value_name = "DAYS", default_value_t = 7)]
    retention: u32,
}

pub(super) fn run(args: &InitArgs) -> Result<ExitCode, Error> {
    let client = args.cluster.client()?;
    let topics = args.cluster.topics();
    let connection = Connection::open(&client, &topics.group())?;
    let mut cluster = connection.look(&topics)?;
    let mut verdict = args.judge(&cluster);
    let missing = missing(&topics, &cluster.found, &Role::ALL);
    if args.check {
        verdict.wrong.extend(missing);
    } else if missing.is_some() && verdict.wrong.is_empty() {
        make(args, &connection, &topics, &cluster)?;
        cluster = await_all(&connection, &topics)?;
        verdict = args.judge(&cluster);
    }
    print(&cluster.found).map_err(Error::Output)?;
    for note in &verdict.notes {
        report(note);
    }
    if !verdict.wrong.is_empty() {
        return Err(Error::Unsound(verdict.wrong));
    }
    try_transactions(&client, &topics)?;
    report("the topics are correct");
    Ok(ExitCode::SUCCESS)
}

impl InitArgs {
    fn judge(&self, cluster: &Cluster) -> Verdict {
        let partitions = self.partitions.map(|count| count as usize);
        let retention = Some(retention(self.retention));
        let mut verdict = judge(&cluster.found, cluster.brokers, partitions, retention);
        verdict.notes.extend(cluster.kept_once.iter().map(|name| {
            format!(
                "the internal topic {name} has a single replica: work stops when its broker stops"
            )
        }));
        verdict
    }
}

/// Creates the missing topics.
fn make(
    args: &InitArgs,
    connection: &Connection,
    topics: &Topics,
    cluster: &Cluster,
) -> Result<(), Error> {
    let brokers = cluster.brokers;
    let replicas = match args.replication.map(usize::from) {
        Some(asked) if asked > brokers => {
            return Err(Error::WrongUse(format!(
                "{asked} replicas need {asked} brokers, but the cluster has {brokers}"
            )));
        }
        Some(asked) => asked,
        None if brokers < REPLICAS => {
            report(&format!(
                "the cluster has {brokers} broker{}: topics get {brokers} of {REPLICAS} replicas",
                if brokers == 1 { "" } else { "s" }
            ));
            brokers
        }
        None => REPLICAS,
    };
    let there = cluster.found.first().map(|topic| topic.partitions);
    let asked = args.partitions.map(|count| count as usize);
    let partitions = asked.or(there).unwrap_or(PARTITIONS);
    let (Ok(partitions), Ok(replication)) = (i32::try_from(partitions), i32::try_from(replicas))
    else {
        return Err(Error::WrongUse("too many partitions".to_owned()));
    };
    let is_missing = |role: &Role| !cluster.found.iter().any(|topic| topic.role == *role);
    let planned: Vec<_> = Role::ALL
        .into_iter()
        .filter(is_missing)
        .map(|role| (role.topic(topics), role.settings(replicas, retention(args.retention))))
        .collect();
    let new: Vec<_> = planned
        .iter()
        .map(|(name, settings)| {
            let new = NewTopic::new(name, partitions, TopicReplication::Fixed(replication));
            settings.iter().fold(new, |new, (name, value)| new.set(name, value))
        })
        .collect();
    connection.make(&new)?;
    for (name, _) in &planned {
        report(&format!("created the topic {name}"));
    }
    Ok(())
}

/// Waits until the cluster knows the topics and each of their partitions has a leader.
fn await_all(connection: &Connection, topics: &Topics) -> Result<Cluster, Error> {
    let begun = Instant::now();
    loop {
        let cluster = connection.look(topics)?;
        let has_leaders = cluster.found.iter().all(|topic| topic.leaderless.is_empty());
        let is_whole = cluster.found.len() == Role::ALL.len() && has_leaders;
        if is_whole || begun.elapsed() > PATIENCE {
            return match missing(topics, &cluster.found, &Role::ALL) {
                Some(missing) => Err(Error::Unsound(vec![missing])),
                None => Ok(cluster),
            };
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Checks that the cluster accepts transactions from this client. Brokers that are too old do not, nor does a cluster
/// whose internal transaction topic needs more replicas than there are brokers.
fn try_transactions(client: &ClientConfig, topics: &Topics) -> Result<(), Error> {
    let mut config = client.clone();
    config.set("transactional.id", format!("{}.init", topics.group()));
    let failed = |error| Error::Cluster {
        doing: format!(
            "begin transactions, which need Apache Kafka 2.5 or newer, the right to write with transactional ids \
             with the prefix {group}., and enough brokers for transaction.state.log.replication.factor and \
             transaction.state.log.min.isr of the cluster",
            group = topics.group()
        ),
        error,
    };
    let producer: BaseProducer = config.create().map_err(failed)?;
    producer.init_transactions(PATIENCE).map_err(failed)
}

/// Prints a table of topics.
fn print(found: &[ExistingTopic]) -> io::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let text = |clip| Layout { right: false, clip };
    let number = Layout { right: true, clip: Clip::Never };
    let (layouts, headings) = (
        [text(Clip::Late), number, number, number, text(Clip::Never), text(Clip::Never)],
        ["topic", "partitions", "replicas", "in sync at least", "policy", "kept"],
    );
    let unknown = || "?".to_owned();
    let setting =
        |topic: &ExistingTopic, name| topic.setting(name).map_or_else(unknown, str::to_owned);
    let rows: Vec<_> = found
        .iter()
        .map(|topic| {
            vec![
                topic.name.clone(),
                topic.partitions.to_string(),
                topic.replicas.to_string(),
                setting(topic, "min.insync.replicas"),
                setting(topic, "cleanup.policy"),
                topic.kept(),
            ]
        })
        .collect();
    let mut out = io::stdout().lock();
    write_table(&mut out, &headings.map(str::to_owned), &layouts, &rows, width(None))?;
    out.flush()
}
