//! Logs are shipped unchanged.

pub(crate) mod copied;
mod redact;
mod sending;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer},
    error::KafkaError,
    message::Headers,
};
use tempfile::TempDir;

use crate::{
    broker::Cluster,
    foldline_fleet,
    logs::{self, droid},
};

const PARTITIONS: i32 = 3;

/// How long anything may take.
const DEADLINE: Duration = Duration::from_secs(120);

/// A cluster with a topic of logs, and a folder of logs.
struct Fleet {
    brokers: Cluster,
    folder: TempDir,
    reader: BaseConsumer,
}

/// A message of the topic.
#[derive(Debug)]
struct Shipped {
    source: String,
    file: u64,
    offset: usize,
    headers: BTreeMap<String, String>,
    bytes: Vec<u8>,
}

/// The files of each source.
type Joined = BTreeMap<String, Vec<Vec<u8>>>;

impl Fleet {
    fn start(settings: &[(&str, &str)]) -> Self {
        let brokers = Cluster::start(1);
        let mut client = ClientConfig::new();
        client.set("bootstrap.servers", &brokers.addresses);
        let admin: AdminClient<DefaultClientContext> = client.create().unwrap();
        let mut topic = NewTopic::new("foldline.logs", PARTITIONS, TopicReplication::Fixed(1));
        for (name, value) in settings {
            topic = topic.set(name, value);
        }
        let heartbeats = NewTopic::new("foldline.shippers", PARTITIONS, TopicReplication::Fixed(1))
            .set("cleanup.policy", "compact,delete");
        let options = AdminOptions::new().operation_timeout(Some(DEADLINE));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for made in runtime.block_on(admin.create_topics([&topic, &heartbeats], &options)).unwrap()
        {
            made.unwrap();
        }
        client
            .set("group.id", "reader")
            .set("enable.auto.commit", "false")
            .set("enable.partition.eof", "true")
            .set("reconnect.backoff.max.ms", "500");
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        Self { brokers, folder, reader: client.create().unwrap() }
    }

    fn logs(&self) -> PathBuf {
        self.folder.path().join("logs")
    }

    fn log(&self, name: &str) -> PathBuf {
        self.logs().join(name)
    }

    fn checkpoint(&self) -> PathBuf {
        self.folder.path().join("ship.json")
    }

    fn command(&self, further: &[&str]) -> Command {
        let mut command = foldline_fleet();
        command.args(["ship", "--host", "here", "--brokers", &self.brokers.addresses]);
        command.arg("--checkpoint").arg(self.checkpoint()).args(further).arg(self.logs());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, further: &[&str]) -> Output {
        self.command(further).output().unwrap()
    }

    /// Ships the existing logs; returns the messages of the program.
    fn once(&self, further: &[&str]) -> String {
        let output = self.run(&[&["--once"], further].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        said
    }

    fn follow(&self, further: &[&str]) -> Running {
        Running::new(self.command(further).spawn().unwrap())
    }

    /// All messages, in the order of their partitions.
    fn messages(&self) -> Vec<Shipped> {
        let mut from = TopicPartitionList::new();
        for partition in 0..PARTITIONS {
            from.add_partition_offset("foldline.logs", partition, Offset::Beginning).unwrap();
        }
        self.reader.assign(&from).unwrap();
        let (mut messages, mut ended) = (Vec::new(), BTreeSet::new());
        while ended.len() < PARTITIONS as usize {
            match self.reader.poll(Duration::from_secs(1)) {
                Some(Err(KafkaError::PartitionEOF(partition))) => drop(ended.insert(partition)),
                // The broker is unreachable.
                None | Some(Err(_)) => {}
                Some(Ok(message)) => {
                    let headers = message.headers().unwrap().iter().map(|header| {
                        let value = String::from_utf8(header.value.unwrap().to_vec()).unwrap();
                        (header.key.to_owned(), value)
                    });
                    let headers: BTreeMap<_, _> = headers.collect();
                    let (file, offset) = headers["position"].split_once(':').unwrap();
                    messages.push(Shipped {
                        source: String::from_utf8(message.key().unwrap().to_vec()).unwrap(),
                        file: file.parse().unwrap(),
                        offset: offset.parse().unwrap(),
                        bytes: message.payload().unwrap_or_default().to_vec(),
                        headers,
                    });
                }
            }
        }
        self.reader.unassign().unwrap();
        messages
    }

    fn joined(&self) -> Joined {
        join(&self.messages())
    }

    /// Waits until the topic holds these files, of any source, to their ends.
    fn await_files(&self, expected: &[&[u8]]) {
        let begun = Instant::now();
        loop {
            let joined = self.joined();
            let files: Vec<_> = joined.values().flatten().collect();
            if expected.iter().all(|one| files.iter().any(|file| file == one)) {
                return;
            }
            let lengths: Vec<_> = files.iter().map(|file| file.len()).collect();
            assert!(begun.elapsed() < DEADLINE, "there are files of {lengths:?} bytes only");
        }
    }
}

/// Joins the shipped pieces like a worker: duplicates are dropped, and nothing may be missing.
fn join(messages: &[Shipped]) -> Joined {
    let mut joined = Joined::new();
    for Shipped { source, file, offset, bytes, .. } in messages {
        let files = joined.entry(source.clone()).or_default();
        let file = usize::try_from(*file).unwrap();
        if file == files.len() {
            files.push(Vec::new());
        }
        assert!(file < files.len(), "{source}: file {file} comes after {} files", files.len());
        let known = files[file].len();
        assert!(*offset <= known, "{source}: {file}:{offset} comes after {known} bytes");
        let again = bytes.len().min(known - offset);
        assert_eq!(
            bytes[..again],
            files[file][*offset..*offset + again],
            "{source} {file}:{offset}"
        );
        files[file].extend_from_slice(&bytes[again..]);
    }
    joined
}

/// The program while it ships.
struct Running {
    child: Child,
    said: Receiver<String>,
}

impl Running {
    fn new(mut child: Child) -> Self {
        let (sender, said) = channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, said }
    }

    /// Waits for this message.
    fn await_said(&self, what: &str) {
        while !self.said.recv_timeout(DEADLINE).unwrap().contains(what) {}
    }

    fn stop(&mut self) {
        assert_eq!(self.terminate(), Some(0));
    }

    /// Asks the program to end; returns its exit code.
    fn terminate(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }

    /// Waits until the program has ended by itself; returns its exit code.
    fn ended(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < DEADLINE, "the program does not end");
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.said.iter().for_each(|line| println!("{line}"));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// Text that does not compress well.
fn noise(length: usize) -> String {
    let mut state = 7_u64;
    let letters = (0..length).map(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + (state >> 59) as u8 % 26)
    });
    letters.collect()
}
