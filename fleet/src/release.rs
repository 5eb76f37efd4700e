//! `foldline-fleet release`: lets a source continue that was held back.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Args;
use foldline::ledger::{Ledger, Mark, SourceName};
use foldline_cli::shared::DatabasePlace;
use foldline_domain::Json;
use rdkafka::{
    ClientConfig,
    consumer::Consumer,
    metadata::{MetadataPartition, MetadataTopic},
    producer::{BaseProducer, BaseRecord, Producer},
};

use crate::{
    cluster::ClusterArgs,
    connection::{Connection, WAIT},
    error::{EXIT_CODES, Error, report},
    ledger::{self, Cluster, INPUT, KafkaLedger},
    marks::{Unfolded, mark},
    piece::Piece,
    sink::{Destination, HeldSource, held},
};

/// The options of `foldline-fleet release`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ReleaseArgs {
    /// The name of the source, as `status` prints it
    source: String,

    #[command(flatten)]
    cluster: ClusterArgs,

    /// Release the source in the database of a sink; otherwise workers fold it again
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,

    /// Skip the message that could not be read
    #[arg(long, requires = "db")]
    skip: bool,

    /// The group of the workers; else PREFIX.work
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
}

/// The time to wait while a sink writes to the database.
const LOCKED: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &ReleaseArgs) -> Result<ExitCode, Error> {
    match &args.db {
        Some(db) => in_database(args, db)?,
        None => in_states(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn in_database(args: &ReleaseArgs, db: &std::path::Path) -> Result<(), Error> {
    let place = DatabasePlace::of(db.as_os_str().to_owned());
    let mut database = Destination::open(&place, None, LOCKED)?;
    let topics = args.cluster.topics();
    let held = held(database.marks()?, &topics.events).into_iter();
    let Some(HeldSource { mark: name, mut unstored, .. }) =
        held.into_iter().find(|held| held.source.as_str() == args.source)
    else {
        return Err(none(&args.source, &database.name()));
    };
    (unstored.released, unstored.skip) = (true, args.skip);
    let committed = database.commit(&[], &[], &[mark(name, &unstored)?]);
    committed.map_err(|error| Error::Shipping(error.to_string()))?;
    database.close()?;
    report("the next sink that starts reads the events of this source again");
    Ok(())
}

/// Takes over the partition of the source, like a worker. Its worker takes it over again, from the offset stored here:
/// it drops the data that is already folded.
fn in_states(args: &ReleaseArgs) -> Result<(), Error> {
    let (client, topics) = (args.cluster.client()?, args.cluster.topics());
    let group = args.group.clone().unwrap_or_else(|| topics.group());
    let connection = Connection::open(&client, &group)?;
    let failed = connection.failed("read the partitions of the states");
    let metadata = connection.consumer.fetch_metadata(Some(&topics.state), WAIT).map_err(failed)?;
    let partitions = metadata.topics().iter().flat_map(MetadataTopic::partitions);
    let cluster = Cluster::new(&client)?;
    let source = SourceName::from(args.source.as_str());
    let name = Unfolded::mark(&source);
    for partition in partitions.map(MetadataPartition::id) {
        let place = ledger::Place { topic: topics.state.clone(), partition };
        let held = |mark: Option<&Json>| mark.and_then(Unfolded::read);
        if held(cluster.states(&place)?.marks.get(&name)).is_none() {
            continue;
        }
        let mut ledger = KafkaLedger::open(&cluster, place, &format!("{group}.{partition}"))?;
        // The worker may have committed since.
        let Some(Unfolded { from, .. }) = held(ledger.mark(&name)?.as_ref()) else { break };
        let input: Option<i64> = ledger.mark(INPUT)?.and_then(|mark| mark.get().parse().ok());
        let input = mark(INPUT, &input.unwrap_or(0).min(from))?;
        let marks = [input, Mark { name, state: Json::default() }];
        let committed = ledger.commit(&[], &marks);
        committed.map_err(|error| Error::Shipping(error.to_string()))?;
        wake(&client, &topics.logs, partition, &source)?;
        report(&format!("partition {partition} is read again from offset {from} for this source"));
        return Ok(());
    }
    Err(none(&args.source, &topics.state))
}

/// Sends an empty piece: a worker without work notices only at its next commit that its partition was taken over.
fn wake(
    client: &ClientConfig,
    logs: &str,
    partition: i32,
    source: &SourceName,
) -> Result<(), Error> {
    let fail = |error| Error::Cluster { doing: format!("write to {logs}"), error };
    let producer: BaseProducer = client.create().map_err(fail)?;
    let piece = Piece::empty(source.clone());
    let record = BaseRecord::to(logs).partition(partition).key(source.as_str());
    let record = record.payload(piece.bytes).headers(piece.headers());
    producer.send(record).map_err(|(error, _)| fail(error))?;
    producer.flush(WAIT).map_err(fail)
}

fn none(source: &str, place: &str) -> Error {
    Error::WrongUse(format!("no source {source} is held back in {place}; `status` lists them"))
}
