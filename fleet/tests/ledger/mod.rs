//! The ledger on Kafka keeps the rule.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use foldline::ledger::{Checkpoint, Commit, CommitError, Ledger, Mark, SourceFacts, SourceName};
use foldline_domain::{Json, Position};
use foldline_fleet::ledger::{Cluster, KafkaLedger, KafkaLedgerError, Message, Place};
use foldline_testkit::ledger::{self, Engine};
use proptest::{prelude::*, test_runner::TestRunner};
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer},
    error::KafkaError,
};

use crate::broker;

/// How long the cluster may take to answer.
const WAIT: Duration = Duration::from_secs(10);

/// A cluster, and the clients of the tests.
struct Connected {
    ledgers: Cluster,
    reader: BaseConsumer,
    /// Also sees uncommitted messages.
    impatient: BaseConsumer,
    admin: AdminClient<DefaultClientContext>,
    /// Stops the brokers at the end.
    _brokers: broker::Cluster,
}

impl Connected {
    fn start() -> Self {
        let brokers = broker::Cluster::start(1);
        let mut client = ClientConfig::new();
        client.set("bootstrap.servers", &brokers.addresses);
        let mut reader = client.clone();
        reader
            .set("group.id", "reader")
            .set("enable.auto.commit", "false")
            .set("enable.partition.eof", "true")
            .set("fetch.wait.max.ms", "10")
            .set("isolation.level", "read_committed");
        let mut impatient = client.clone();
        impatient.set("group.id", "impatient").set("isolation.level", "read_uncommitted");
        Self {
            ledgers: Cluster::new(&client).unwrap(),
            reader: reader.create().unwrap(),
            impatient: impatient.create().unwrap(),
            admin: client.create().unwrap(),
            _brokers: brokers,
        }
    }
}

/// Separate topics for each engine.
struct Kafka<'c> {
    connected: &'c Connected,
    outputs: String,
    states: String,
}

impl<'c> Kafka<'c> {
    fn new(connected: &'c Connected) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let (outputs, states) = (format!("outputs-{number}"), format!("states-{number}"));
        let topics =
            [&outputs, &states].map(|name| NewTopic::new(name, 1, TopicReplication::Fixed(1)));
        let options = AdminOptions::new().operation_timeout(Some(Duration::from_secs(30)));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for made in runtime.block_on(connected.admin.create_topics(&topics, &options)).unwrap() {
            made.unwrap();
        }
        Self { connected, outputs, states }
    }

    /// The messages seen by a reader of committed messages.
    fn read(&self, topic: &str) -> Vec<Vec<u8>> {
        let Connected { reader, impatient, .. } = self.connected;
        // A transaction is committed before its markers are written, which make it visible.
        let end = |consumer: &BaseConsumer| consumer.fetch_watermarks(topic, 0, WAIT).unwrap().1;
        while end(reader) < end(impatient) {
            thread::sleep(Duration::from_millis(1));
        }
        let mut from = TopicPartitionList::new();
        from.add_partition_offset(topic, 0, Offset::Beginning).unwrap();
        reader.assign(&from).unwrap();
        let mut read = Vec::new();
        loop {
            match reader.poll(Duration::from_secs(1)) {
                None => {}
                Some(Err(KafkaError::PartitionEOF(_))) => break,
                Some(message) => read.push(message.unwrap().payload().unwrap().to_vec()),
            }
        }
        reader.unassign().unwrap();
        read
    }
}

impl Engine for Kafka<'_> {
    type Ledger = KafkaLedger;
    const KEEPS_OUTPUTS: bool = true;

    fn open(&self) -> KafkaLedger {
        let place = Place { topic: self.states.clone(), partition: 0 };
        KafkaLedger::open(&self.connected.ledgers, place, &self.states).unwrap()
    }

    fn output(&self, source: &SourceName, items: &[String]) -> Vec<Message> {
        let message = |item: &String| Message {
            topic: self.outputs.as_str().into(),
            partition: Some(0),
            key: source.as_str().into(),
            value: Some(item.clone().into()),
            headers: vec![("source", source.as_str().into())],
        };
        items.iter().map(message).collect()
    }

    fn committed(&self, _: &mut KafkaLedger) -> Vec<String> {
        self.read(&self.outputs).into_iter().map(|item| String::from_utf8(item).unwrap()).collect()
    }
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn two_owners_do_not_both_commit() {
    let connected = Connected::start();
    ledger::exclusive(|| Kafka::new(&connected)).unwrap_or_else(|violation| panic!("{violation}"));
}

/// With every reopening, and every check of the committed data, all scenarios take two minutes: `FOLDLINE_LEDGER=1`
/// enables them.
#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn it_keeps_the_rule() {
    if std::env::var_os("FOLDLINE_LEDGER").is_none() {
        return;
    }
    let connected = Connected::start();
    ledger::check(|| Kafka::new(&connected)).unwrap_or_else(|violation| panic!("{violation}"));
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn it_holds_what_the_model_holds() {
    let connected = Connected::start();
    let config = ProptestConfig { cases: 8, max_shrink_iters: 20, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&ledger::operations(), |operations| {
            Ok(ledger::model(|| Kafka::new(&connected), &operations)?)
        })
        .unwrap();
}

fn commit(line: u64, expected: Option<u64>, state: &Json) -> Commit<Vec<Message>> {
    let position = |line| Position { line, offset: 10 * line };
    Commit {
        source: "source".into(),
        expected: expected.map(position),
        checkpoint: Checkpoint {
            facts: SourceFacts::default(),
            position: position(line),
            state: state.clone(),
            complete: false,
        },
        output: Vec::new(),
    }
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_state_longer_than_a_message_is_stored_in_parts() {
    let connected = Connected::start();
    let engine = Kafka::new(&connected);
    // Random enough that it is not compressed below the broker's limit.
    let mut seed = 1_u64;
    let mut noise = |length| {
        let next = |_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'0' + (seed >> 58) as u8)
        };
        Json::of(&(0..length).map(next).collect::<String>().replace('\\', "/")).unwrap()
    };
    let (long, longer, short) = (noise(3 << 20), noise(5 << 20), noise(10));
    let mut expected = None;
    for (line, state) in (1..).zip([&short, &longer, &long, &short, &long]) {
        engine.open().commit(&[commit(line, expected, state)], &[]).unwrap();
        expected = Some(line);
        let stored = engine.open().load(&"source".into()).unwrap().unwrap();
        assert_eq!(stored.state.get(), state.get());
    }
    assert!(engine.open().forget(&"source".into()).unwrap());
    assert_eq!(engine.open().load(&"source".into()).unwrap(), None);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_stale_owner_commits_nothing_and_says_so() {
    let connected = Connected::start();
    let engine = Kafka::new(&connected);
    let (source, state) = (SourceName::from("source"), Json::default());
    let mut stale = engine.open();
    stale.commit(&[commit(1, None, &state)], &[]).unwrap();
    let mut owner = engine.open();
    let refused = stale.commit(&[commit(2, Some(1), &state)], &[]).unwrap_err();
    assert!(matches!(refused, CommitError::Failed(KafkaLedgerError::Fenced)), "{refused}");
    let again = stale.commit(&[commit(2, Some(1), &state)], &[]).unwrap_err();
    assert!(matches!(again, CommitError::Failed(KafkaLedgerError::Failed)), "{again}");
    owner.commit(&[commit(3, Some(1), &state)], &[]).unwrap();
    assert_eq!(owner.load(&source).unwrap().unwrap().position.line, 3);
    // A commit may consist of a mark alone.
    let mark = Mark { name: "a mark".to_owned(), state: Json::of(&7).unwrap() };
    owner.commit(&[], std::slice::from_ref(&mark)).unwrap();
    assert_eq!(engine.open().mark("a mark").unwrap(), Some(mark.state));
}
