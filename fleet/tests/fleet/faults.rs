//! Random faults, while logs grow and are shipped, folded and stored.

use std::{
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use rdkafka::Offset;
use rustix::process::Signal;

use super::{Cluster, Running, Topics, WAIT, command, growing::Growing, sinks::ended};
use crate::{
    postgres_server::Server,
    random::Random,
    ship::copied::{copy_and_truncate, rotate},
};

/// What happens to a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    ShipperKilled,
    SinkKilled,
    WorkerKilled,
    WorkerPaused,
    WorkerComes,
    WorkerGoes,
    BrokerKilled,
    BrokerPaused,
    AllBrokersKilled,
    LogRotated,
    LogCopiedAndTruncated,
    LogsRotatedAndShipperKilled,
    SinkPaused,
    TwoSinks,
    ServerLost,
    Poison,
    EventsDeleted,
    LogsDeleted,
}

impl Fault {
    const ALL: [Self; 18] = [
        Self::ShipperKilled,
        Self::SinkKilled,
        Self::WorkerKilled,
        Self::WorkerPaused,
        Self::WorkerComes,
        Self::WorkerGoes,
        Self::BrokerKilled,
        Self::BrokerPaused,
        Self::AllBrokersKilled,
        Self::LogRotated,
        Self::LogCopiedAndTruncated,
        Self::LogsRotatedAndShipperKilled,
        Self::SinkPaused,
        Self::TwoSinks,
        Self::ServerLost,
        Self::Poison,
        // Sources whose data was deleted are held back for the rest of the run.
        Self::EventsDeleted,
        Self::LogsDeleted,
    ];

    /// The number of faults that leave every source complete.
    const HARMLESS: usize = 16;
}

/// The programs of a fleet, and their possible faults.
pub(crate) struct Fleet<'c> {
    cluster: &'c Cluster,
    pub(crate) topics: &'c Topics,
    brokers: usize,
    folder: PathBuf,
    pub(crate) checkpoint: PathBuf,
    pub(crate) db: PathBuf,
    pub(crate) trail: PathBuf,
    /// What the shippers said.
    said: PathBuf,
    shipper: Option<Running>,
    workers: Vec<Running>,
    sink: Option<Running>,
    /// The address of a database of PostgreSQL, and its sink.
    pub(crate) server: Option<(String, Option<Running>)>,
    /// The number of messages of another client.
    poison: usize,
    /// Messages were deleted before they were read.
    pub(crate) has_deleted: bool,
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            println!("{}", fs::read_to_string(&self.said).unwrap_or_default());
        }
    }
}

/// The session timeout of the group: a paused worker is excluded after that.
const SESSION: &str = "session.timeout.ms=2000";

impl<'c> Fleet<'c> {
    pub(crate) fn start(
        (cluster, brokers): (&'c Cluster, usize),
        topics: &'c Topics,
        folder: &Path,
        workers: usize,
    ) -> Self {
        let mut fleet = Self {
            cluster,
            topics,
            brokers,
            folder: folder.join("logs"),
            checkpoint: folder.join("ship.json"),
            db: folder.join("fleet.db"),
            trail: folder.join("fleet.trail"),
            said: folder.join("ship.said"),
            shipper: None,
            workers: Vec::new(),
            sink: None,
            server: None,
            poison: 0,
            has_deleted: false,
        };
        fleet.shipper = Some(fleet.ship());
        fleet.sink = Some(fleet.store());
        if cfg!(has_postgres) {
            let address = Server::get().database();
            let sink = fleet.store_in(&address);
            fleet.server = Some((address, Some(sink)));
        }
        (0..workers).for_each(|_| fleet.workers.push(fleet.work()));
        fleet
    }

    fn run(&self, arguments: &[&str]) -> Running {
        let mut command = command(self.cluster, self.topics, arguments);
        Running(command.stderr(Stdio::null()).spawn().unwrap())
    }

    fn ship(&self) -> Running {
        let (folder, checkpoint) =
            (self.folder.to_str().unwrap(), self.checkpoint.to_str().unwrap());
        let arguments = ["ship", folder, "--checkpoint", checkpoint];
        let said = OpenOptions::new().create(true).append(true).open(&self.said).unwrap();
        Running(command(self.cluster, self.topics, &arguments).stderr(said).spawn().unwrap())
    }

    fn work(&self) -> Running {
        self.run(&["work", "-X", SESSION, "-X", "heartbeat.interval.ms=400"])
    }

    fn store(&self) -> Running {
        let [db, trail] = [&self.db, &self.trail].map(|path| path.to_str().unwrap());
        self.run(&["sink", "--db", db, "--audit", trail])
    }

    fn store_in(&self, address: &str) -> Running {
        self.run(&["sink", "--name", "server", "--db", address])
    }

    /// Kills the sink of the server, or its connections.
    fn lose_server(&mut self, random: &mut Random) {
        let Some((address, sink)) = self.server.take() else { return };
        let sink = match random.below(2) {
            0 => {
                sink.into_iter().for_each(Running::kill);
                Some(self.store_in(&address))
            }
            _ => {
                Server::disconnect(&address);
                sink
            }
        };
        self.server = Some((address, sink));
    }

    /// Causes one fault, in a run of this many.
    pub(crate) fn fault(
        &mut self,
        random: &mut Random,
        growing: &mut Growing,
        (number, faults): (u64, u64),
    ) -> String {
        let is_late = number * 4 >= faults * 3 && !self.has_deleted;
        let kinds = if is_late { Fault::ALL.len() } else { Fault::HARMLESS };
        let fault = Fault::ALL[random.below(kinds)];
        self.cause(fault, random, growing);
        format!("{fault:?}")
    }

    fn cause(&mut self, fault: Fault, random: &mut Random, growing: &mut Growing) {
        let number = random.below(self.workers.len());
        let broker = 1 + random.below(self.brokers);
        let log = random.below(growing.count());
        let pause = |most: usize, random: &mut Random| {
            thread::sleep(Duration::from_millis(random.below(most) as u64));
        };
        match fault {
            Fault::ShipperKilled => self.restart_shipper(),
            Fault::SinkKilled => self.restart_sink(),
            Fault::WorkerKilled => {
                self.workers.swap_remove(number).kill();
                self.workers.push(self.work());
            }
            Fault::WorkerPaused => {
                let worker = &self.workers[number];
                worker.signal(Signal::STOP);
                // Until others have taken its place.
                thread::sleep(Duration::from_millis(3000));
                pause(1500, random);
                worker.signal(Signal::CONT);
            }
            Fault::WorkerComes if self.workers.len() < 6 => self.workers.push(self.work()),
            Fault::WorkerComes | Fault::WorkerGoes => {
                if self.workers.len() > 1 {
                    self.workers.swap_remove(number).end();
                }
            }
            Fault::BrokerKilled => {
                self.cluster.kill(broker);
                pause(3000, random);
                self.cluster.restart(broker);
            }
            Fault::BrokerPaused => {
                self.cluster.pause(broker);
                thread::sleep(Duration::from_millis(1000));
                pause(5000, random);
                self.cluster.resume(broker);
            }
            Fault::AllBrokersKilled => {
                (1..=self.brokers).for_each(|broker| self.cluster.kill(broker));
                pause(3000, random);
                self.cluster.restart_all();
            }
            Fault::LogRotated => growing.rotate(log, rotate, &self.checkpoint),
            Fault::LogCopiedAndTruncated => {
                growing.rotate(log, copy_and_truncate, &self.checkpoint);
            }
            Fault::LogsRotatedAndShipperKilled => {
                for log in 0..growing.count() {
                    let how = [rotate, copy_and_truncate][random.below(2)];
                    growing.rotate(log, how, &self.checkpoint);
                }
                pause(3000, random);
                self.restart_shipper();
            }
            Fault::SinkPaused => {
                let paused = self.sink.take().unwrap();
                paused.signal(Signal::STOP);
                self.sink = Some(self.store());
                pause(3000, random);
                paused.signal(Signal::CONT);
                self.one_of(paused, random);
            }
            Fault::TwoSinks => {
                let other = self.store();
                pause(3000, random);
                self.one_of(other, random);
            }
            Fault::ServerLost => self.lose_server(random),
            Fault::Poison => self.send_poison(random),
            Fault::EventsDeleted => {
                self.sink.take().unwrap().kill();
                growing.grow(random, 0.05);
                pause(3000, random);
                self.delete("events", random);
                self.sink = Some(self.store());
            }
            Fault::LogsDeleted => {
                self.workers.drain(..).for_each(Running::kill);
                growing.grow(random, 0.05);
                pause(3000, random);
                self.delete("logs", random);
                (0..2).for_each(|_| self.workers.push(self.work()));
            }
        }
    }

    fn restart_shipper(&mut self) {
        self.shipper.take().unwrap().kill();
        self.shipper = Some(self.ship());
    }

    fn restart_sink(&mut self) {
        self.sink.take().unwrap().kill();
        self.sink = Some(self.store());
    }

    /// Of two sinks of a database, the one that commits second ends. Continues with a single one.
    fn one_of(&mut self, other: Running, random: &mut Random) {
        thread::sleep(Duration::from_millis(random.below(2000) as u64));
        other.kill();
        self.restart_sink();
    }

    /// Deletes what a partition has.
    fn delete(&mut self, what: &str, random: &mut Random) {
        let partition = random.below(self.topics.partitions as usize) as i32;
        self.topics.delete_before(what, partition, Offset::End);
        self.has_deleted = true;
    }

    /// Sends messages to a topic that are not those of a fleet, or cannot be read. The sources are unknown ones.
    fn send_poison(&mut self, random: &mut Random) {
        self.poison += 1;
        let source = format!("poison-{}", self.poison);
        let garbage = b"{\"this is \xFF not ";
        let [kind, named] = [("kind", "event"), ("source", source.as_str())];
        let piece = [("position", "0:0"), ("format", "poison"), ("path", "/poison")];
        let half = [("position", "here"), ("format", "droid")];
        let topic = ["logs", "events", "patches", "state", "shippers"][random.below(5)];
        let headers: &[(&str, &str)] = match (topic, random.below(3)) {
            (_, 0) => &[],
            ("logs", 1) => &piece,
            ("logs", _) => &half,
            ("events", 1) => &[kind, named],
            ("events", _) => &[kind],
            ("state", _) => &[("parts", "2")],
            _ => &[named],
        };
        self.topics.send(topic, &source, garbage, headers);
    }

    /// The answer of `status` for the file.
    pub(crate) fn status(&self) -> serde_json::Value {
        self.status_of(self.db.to_str().unwrap())
    }

    /// The answer of `status` for a database.
    pub(crate) fn status_of(&self, db: &str) -> serde_json::Value {
        let arguments = ["status", "--format", "json", "--db", db];
        let mut command = command(self.cluster, self.topics, &arguments);
        let output = command.stdout(Stdio::piped()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Ships the rest, and declares the logs complete; returns when everything is folded and stored, with the exit
    /// code of the sink.
    pub(crate) fn conclude(&mut self) -> Option<i32> {
        self.shipper.take().unwrap().kill();
        let (folder, checkpoint) =
            (self.folder.to_str().unwrap(), self.checkpoint.to_str().unwrap());
        let arguments = ["ship", folder, "--checkpoint", checkpoint, "--once", "--final"];
        let shipped =
            command(self.cluster, self.topics, &arguments).stderr(Stdio::piped()).output();
        let shipped = shipped.unwrap();
        assert!(shipped.status.success(), "{}", String::from_utf8_lossy(&shipped.stderr));
        self.sink.take().unwrap().kill();
        let begun = Instant::now();
        while self.status()["lag"] != 0 {
            assert!(begun.elapsed() < 2 * WAIT, "{:#}", self.status());
            thread::sleep(Duration::from_millis(500));
        }
        self.workers.drain(..).for_each(Running::end);
        let [db, trail] = [&self.db, &self.trail].map(|path| path.to_str().unwrap());
        let arguments = ["sink", "--once", "--db", db, "--audit", trail];
        let mut sink = command(self.cluster, self.topics, &arguments);
        let (code, said) = ended(Running(sink.stderr(Stdio::piped()).spawn().unwrap()));
        println!("{said}");
        if let Some((address, sink)) = &mut self.server {
            sink.take().into_iter().for_each(Running::kill);
            let arguments = ["sink", "--once", "--name", "server", "--db", address];
            let mut sink = command(self.cluster, self.topics, &arguments);
            let (code, said) = ended(Running(sink.stderr(Stdio::piped()).spawn().unwrap()));
            assert!(matches!(code, Some(0 | 1)), "{said}");
        }
        code
    }
}
