//! The topics are created once, checked on every run, and listed.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use foldline::ledger::{Checkpoint, Commit, Ledger, Mark, SourceFacts};
use foldline_domain::{Json, Position};
use foldline_fleet::ledger::{self, KafkaLedger};
use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer},
    producer::{BaseProducer, BaseRecord, Producer},
};

use crate::{broker::Cluster, foldline_fleet};

/// The result of a run of the program.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn command(brokers: &str, arguments: &[&str]) -> Command {
    let mut command = foldline_fleet();
    command.args(arguments).args(["--brokers", brokers]);
    command
}

fn run(mut command: Command) -> Ran {
    let ran = command.output().unwrap();
    Ran {
        code: ran.status.code().unwrap(),
        out: String::from_utf8(ran.stdout).unwrap(),
        err: String::from_utf8(ran.stderr).unwrap(),
    }
}

fn fleet(cluster: &Cluster, arguments: &[&str]) -> Ran {
    run(command(&cluster.addresses, arguments))
}

/// Creates a topic with one replica, like another program.
fn make(cluster: &Cluster, name: &str, partitions: i32, settings: &[(&str, &str)]) {
    let mut client = ClientConfig::new();
    client.set("bootstrap.servers", &cluster.addresses);
    let admin: AdminClient<DefaultClientContext> = client.create().unwrap();
    let new = NewTopic::new(name, partitions, TopicReplication::Fixed(1));
    let new = settings.iter().fold(new, |new, (name, value)| new.set(name, value));
    let options = AdminOptions::new().operation_timeout(Some(Duration::from_secs(30)));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for made in runtime.block_on(admin.create_topics(&[new], &options)).unwrap() {
        made.unwrap();
    }
    // Brokers learn of it at different times.
    for broker in cluster.addresses.split(',') {
        let mut client = ClientConfig::new();
        client.set("bootstrap.servers", broker);
        let (consumer, begun): (BaseConsumer, _) = (client.create().unwrap(), Instant::now());
        let is_known = || {
            let metadata = consumer.fetch_metadata(None, Duration::from_secs(10)).unwrap();
            metadata.topics().iter().any(|topic| topic.name() == name)
        };
        while !is_known() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{broker} does not know {name}");
        }
    }
}

/// An address without a listener.
fn unused_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn topics_are_made_once_and_then_found_well() {
    let cluster = Cluster::start(1);
    let check = fleet(&cluster, &["init", "--check"]);
    assert_eq!(check.code, 1, "{}", check.err);
    assert!(check.err.contains("run `foldline-fleet init`"), "{}", check.err);

    let first = fleet(&cluster, &["init", "--partitions", "3"]);
    assert_eq!(first.code, 0, "{}", first.err);
    assert!(first.err.contains("created the topic foldline.state"), "{}", first.err);
    assert!(first.err.contains("topics get 1 of 3 replicas"), "{}", first.err);
    let kept = ["foldline.logs", "foldline.events", "foldline.patches"];
    let compacted = ["foldline.state", "foldline.checkpoints"];
    for line in kept.into_iter().chain(compacted) {
        let row = first.out.lines().find(|row| row.starts_with(line)).unwrap();
        let columns: Vec<_> = row.split_whitespace().collect();
        let policy = if compacted.contains(&line) { "compact" } else { "delete" };
        assert_eq!(columns[1..5], ["3", "1", "1", policy], "{row}");
    }

    for arguments in [&["init"][..], &["init", "--check"], &["init", "--partitions", "3"]] {
        let again = fleet(&cluster, arguments);
        assert_eq!(again.code, 0, "{}", again.err);
        assert_eq!(again.out, first.out);
        assert_eq!(again.err, "foldline-fleet: the topics are correct\n");
    }
    let differs = fleet(&cluster, &["init", "--retention", "0"]);
    assert_eq!(differs.code, 0, "{}", differs.err);
    assert!(differs.err.contains("7 days instead of the requested for ever"), "{}", differs.err);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn topics_that_would_lose_something_are_refused() {
    let cluster = Cluster::start(1);
    let refused = |arguments: &[&str], parts: &[&str]| {
        let ran = fleet(&cluster, arguments);
        assert_eq!(ran.code, 1, "{}", ran.err);
        for part in parts {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
        assert!(!ran.err.contains("the topics are correct"), "{}", ran.err);
    };

    make(&cluster, "a.logs", 2, &[]);
    make(&cluster, "a.events", 3, &[]);
    refused(&["init", "--prefix", "a"], &["a.logs has 2", "a.events has 3", "cannot be changed"]);
    // If anything is wrong, nothing is created.
    refused(
        &["init", "--prefix", "a", "--check"],
        &["there is no topic a.patches, a.state, a.checkpoints"],
    );

    make(&cluster, "b.logs", 2, &[]);
    refused(
        &["init", "--prefix", "b", "--partitions", "4"],
        &["4 partitions were requested", "b.logs has 2"],
    );

    make(&cluster, "c.state", 2, &[]);
    refused(&["init", "--prefix", "c"], &["cleanup.policy=compact on the topic c.state"]);

    make(&cluster, "d.logs", 2, &[("cleanup.policy", "compact")]);
    make(&cluster, "d.events", 2, &[("unclean.leader.election.enable", "true")]);
    let ways_out = [
        "cleanup.policy=delete on the topic d.logs",
        "unclean.leader.election.enable=false on the topic d.events",
    ];
    refused(&["init", "--prefix", "d"], &ways_out);

    let ran = fleet(&cluster, &["init", "--prefix", "e", "--replication", "3"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("the cluster has 1"), "{}", ran.err);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn topics_that_are_missing_get_as_many_partitions_as_the_others_have() {
    let cluster = Cluster::start(1);
    make(&cluster, "foldline.logs", 5, &[]);
    let made = fleet(&cluster, &["init"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let counts: Vec<_> =
        made.out.lines().skip(1).map(|row| row.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(counts, ["5"; 6]);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn three_brokers_keep_each_message() {
    let cluster = Cluster::start(3);
    let made = fleet(&cluster, &["init", "--partitions", "2"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let row = made.out.lines().find(|row| row.starts_with("foldline.state")).unwrap();
    let columns: Vec<_> = row.split_whitespace().collect();
    assert_eq!(columns[1..5], ["2", "3", "2", "compact"], "{row}");

    make(&cluster, "once.logs", 2, &[("min.insync.replicas", "1")]);
    let once = fleet(&cluster, &["init", "--prefix", "once"]);
    assert_eq!(once.code, 0, "{}", once.err);
    assert!(once.err.contains("once.logs has 1 replica on 3 brokers"), "{}", once.err);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn of_an_empty_fleet_nothing_is_behind() {
    let cluster = Cluster::start(1);
    let before = fleet(&cluster, &["status"]);
    assert_eq!(before.code, 1, "{}", before.err);
    assert!(before.err.contains("run `foldline-fleet init`"), "{}", before.err);

    assert_eq!(fleet(&cluster, &["init", "--partitions", "2"]).code, 0);
    let table = fleet(&cluster, &["status"]);
    assert_eq!((table.code, table.err.as_str()), (0, ""));
    let all = table.out.lines().find(|row| row.trim_start().starts_with("all")).unwrap();
    assert_eq!(all.split_whitespace().collect::<Vec<_>>(), ["all", "0", "0", "0", "0", "0"]);
    let rest = "no worker\nshippers: 0 reporting, 0 silent, 0 ended\n";
    assert!(table.out.ends_with(rest), "{}", table.out);

    let json = fleet(&cluster, &["status", "-f", "json"]);
    assert_eq!((json.code, json.err.as_str()), (0, ""));
    let status: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(status["partitions"].as_array().unwrap().len(), 2);
    assert_eq!(status["partitions"][1]["logs_end"], 0);
    assert_eq!(status["partitions"][1]["folded_to"], serde_json::Value::Null);
    assert_eq!(status["notes"], serde_json::json!([]));
}

/// Commits a segment like a worker: a state, and the folded offset.
fn fold(cluster: &Cluster, source: &str, offset: u64) -> BaseConsumer {
    let mut client = ClientConfig::new();
    client.set("bootstrap.servers", &cluster.addresses);
    let place = |topic: &str| ledger::Place { topic: topic.to_owned(), partition: 1 };
    let connected = ledger::Cluster::new(&client).unwrap();
    let place_of_state = place("foldline.state");
    let mut states = KafkaLedger::open(&connected, place_of_state, "foldline.work.1").unwrap();
    client.set("group.id", "foldline.work").set("auto.offset.reset", "earliest");
    let consumer: BaseConsumer = client.create().unwrap();
    consumer.subscribe(&["foldline.logs"]).unwrap();
    let begun = Instant::now();
    while consumer.assignment().unwrap().count() < 2 {
        consumer.poll(Duration::from_millis(10));
        assert!(begun.elapsed() < Duration::from_secs(60), "no partition was given");
    }
    let commit = Commit {
        source: source.into(),
        expected: None,
        checkpoint: Checkpoint {
            facts: SourceFacts::default(),
            position: Position { line: 1, offset: 3 },
            state: Json::of(&1).unwrap(),
            complete: false,
        },
        output: Vec::new(),
    };
    let mark = Mark { name: ledger::INPUT.to_owned(), state: Json::of(&offset).unwrap() };
    states.commit(&[commit], &[mark]).unwrap();
    consumer
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn what_waits_and_who_works_is_shown() {
    let cluster = Cluster::start(1);
    assert_eq!(fleet(&cluster, &["init", "--partitions", "2"]).code, 0);
    let mut client = ClientConfig::new();
    client.set("bootstrap.servers", &cluster.addresses);
    let producer: BaseProducer = client.create().unwrap();
    for _ in 0..5 {
        let record = BaseRecord::to("foldline.logs").partition(1).key("source").payload("{}\n");
        producer.send(record).map_err(|(error, _)| error).unwrap();
    }
    producer.flush(Duration::from_secs(60)).unwrap();
    let member = fold(&cluster, "source", 3);

    let status = || {
        let ran = fleet(&cluster, &["status", "-f", "json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str::<serde_json::Value>(&ran.out).unwrap()
    };
    // A transaction is committed before readers see it.
    let begun = Instant::now();
    let shown = loop {
        let shown = status();
        if shown["sources"] == 1 && shown["lag"] == 2 {
            break shown;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{shown}");
    };
    let row = &shown["partitions"][1];
    let numbers = ["logs_begin", "logs_end", "folded_to", "lag", "sources"].map(|name| &row[name]);
    assert_eq!(numbers, [0, 5, 3, 2, 1]);
    assert_eq!(row["worker"], "127.0.0.1");
    assert_eq!(shown["workers"][0]["partitions"], serde_json::json!([0, 1]));
    drop(member);
}

#[test]
fn brokers_that_do_not_answer_are_named() {
    let address = unused_address();
    for verb in VERBS {
        let ran = run(command(&address, &[verb]));
        assert_eq!(ran.code, 1, "{}", ran.err);
        let begins = format!("foldline-fleet: cannot reach the brokers {address}: ");
        assert!(ran.err.starts_with(&begins), "{}", ran.err);
        assert_eq!(ran.out, "");
    }
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_password_is_not_printed() {
    let cluster = Cluster::start(1);
    for verb in VERBS {
        let mut command = command(&cluster.addresses, &[verb]);
        command
            .env("RUST_LOG", "trace")
            .env("FOLDLINE_KAFKA_SECURITY_PROTOCOL", "sasl_plaintext")
            .env("FOLDLINE_KAFKA_SASL_MECHANISM", "PLAIN")
            .env("FOLDLINE_KAFKA_SASL_USERNAME", "somebody")
            .env("FOLDLINE_KAFKA_SASL_PASSWORD", "hunter2");
        let ran = run(command);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.err.contains(&cluster.addresses), "{}", ran.err);
        assert!(!ran.err.contains("hunter2") && !ran.out.contains("hunter2"), "{}", ran.err);
    }
}

/// Waiting does not change a wrong password.
#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_wrong_password_ends_every_verb() {
    let cluster = Cluster::start(1);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (db, checkpoint, logs) = (path("fleet.db"), path("ship.json"), path("logs"));
    std::fs::create_dir(&logs).unwrap();
    let with = |password: &str, verb: &[&str]| {
        let mut command = command(&cluster.secured(), verb);
        command
            .env("FOLDLINE_KAFKA_SECURITY_PROTOCOL", "sasl_plaintext")
            .env("FOLDLINE_KAFKA_SASL_MECHANISM", "PLAIN")
            .env("FOLDLINE_KAFKA_SASL_USERNAME", "fleet")
            .env("FOLDLINE_KAFKA_SASL_PASSWORD", password);
        command
    };
    let verbs: [&[&str]; 6] = [
        &["init"],
        &["status"],
        &["work"],
        &["sink", "--db", &db],
        &["ship", &logs, "--checkpoint", &checkpoint],
        &["ship", "--once", &logs, "--checkpoint", &checkpoint],
    ];
    for verb in verbs {
        let mut child = with("wrong", verb).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let has_ended = child.try_wait().unwrap().is_some();
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(has_ended, "{verb:?} does not end: {said}");
        assert_eq!(output.status.code(), Some(1), "{verb:?}: {said}");
        assert!(said.contains("reject the credentials"), "{verb:?}: {said}");
    }
    let right = run(with("right", &["init"]));
    assert_eq!(right.code, 0, "{}", right.err);
}

/// The verbs that end when the brokers do not answer.
const VERBS: [&str; 2] = ["init", "status"];
