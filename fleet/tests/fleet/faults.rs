//! Random faults, while logs grow and are shipped, folded and stored.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use super::{Cluster, Log, Running, Topics};
use crate::random::Random;

/// A folder of logs that grow piece by piece to their final content.
pub(crate) struct Growing {
    logs: Vec<(PathBuf, Vec<u8>, usize)>,
}

impl Growing {
    /// Each log gets a separate file, which is initially empty.
    pub(crate) fn new(folder: &Path, logs: &[Log]) -> Self {
        let file = |(number, log): (usize, &Log)| {
            // Some agents encode data in file names.
            let path = folder.join(number.to_string());
            fs::create_dir_all(&path).unwrap();
            (path.join(Path::new(&log.path).file_name().unwrap()), log.content.clone(), 0)
        };
        Self { logs: logs.iter().enumerate().map(file).collect() }
    }

    /// Writes about this share of the content.
    pub(crate) fn grow(&mut self, random: &mut Random, share: f64) {
        for (path, content, written) in &mut self.logs {
            let most = (content.len() as f64 * share * 2.0) as usize + 1;
            let end = (*written + random.below(most + 1)).min(content.len());
            append(path, &content[*written..end]);
            *written = end;
        }
    }

    pub(crate) fn complete(&mut self) {
        for (path, content, written) in &mut self.logs {
            append(path, &content[*written..]);
            *written = content.len();
        }
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// The programs of a fleet, and their possible faults.
pub(crate) struct Fleet<'c> {
    cluster: &'c Cluster,
    topics: &'c Topics,
    brokers: usize,
    folder: PathBuf,
    pub(crate) checkpoint: PathBuf,
    pub(crate) db: PathBuf,
    pub(crate) trail: PathBuf,
    shipper: Option<Running>,
    workers: Vec<Running>,
    sink: Option<Running>,
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
            shipper: None,
            workers: Vec::new(),
            sink: None,
        };
        fleet.shipper = Some(fleet.ship());
        fleet.sink = Some(fleet.store());
        (0..workers).for_each(|_| fleet.workers.push(fleet.work()));
        fleet
    }

    fn run(&self, arguments: &[&str]) -> Running {
        Running::start(self.cluster, self.topics, arguments)
    }

    fn ship(&self) -> Running {
        let (folder, checkpoint) =
            (self.folder.to_str().unwrap(), self.checkpoint.to_str().unwrap());
        self.run(&["ship", folder, "--checkpoint", checkpoint])
    }

    fn work(&self) -> Running {
        self.run(&["work", "-X", SESSION, "-X", "heartbeat.interval.ms=400"])
    }

    fn store(&self) -> Running {
        let [db, trail] = [&self.db, &self.trail].map(|path| path.to_str().unwrap());
        self.run(&["sink", "--db", db, "--audit", trail])
    }

    /// Causes one fault.
    pub(crate) fn fault(&mut self, random: &mut Random) -> &'static str {
        let number = random.below(self.workers.len());
        match random.below(if self.brokers > 1 { 9 } else { 6 }) {
            0 => {
                self.shipper.take().unwrap().kill();
                self.shipper = Some(self.ship());
                "the shipper is killed"
            }
            1 => {
                self.sink.take().unwrap().kill();
                self.sink = Some(self.store());
                "the sink is killed"
            }
            2 => {
                self.workers.swap_remove(number).kill();
                self.workers.push(self.work());
                "a worker is killed"
            }
            3 => {
                let worker = &self.workers[number];
                worker.signal(rustix::process::Signal::STOP);
                thread::sleep(Duration::from_millis(3000 + random.below(1500) as u64));
                worker.signal(rustix::process::Signal::CONT);
                "a worker is held up until others have taken its place"
            }
            4 => {
                self.workers.push(self.work());
                "a worker comes"
            }
            5 => {
                if self.workers.len() > 1 {
                    self.workers.swap_remove(number).stop();
                }
                "a worker goes"
            }
            6 | 7 => {
                let broker = 1 + random.below(self.brokers);
                self.cluster.kill(broker);
                thread::sleep(Duration::from_millis(random.below(3000) as u64));
                self.cluster.restart(broker);
                "a broker is killed"
            }
            _ => {
                let broker = 1 + random.below(self.brokers);
                self.cluster.pause(broker);
                thread::sleep(Duration::from_millis(1000 + random.below(5000) as u64));
                self.cluster.resume(broker);
                "a broker is cut off"
            }
        }
    }

    /// Ships the rest, and declares the logs complete; returns when everything is folded.
    pub(crate) fn conclude(mut self, logs: usize) {
        self.shipper.take().unwrap().kill();
        let (folder, checkpoint) =
            (self.folder.to_str().unwrap(), self.checkpoint.to_str().unwrap());
        let arguments = ["ship", folder, "--checkpoint", checkpoint, "--once", "--final"];
        let shipped = super::command(self.cluster, self.topics, &arguments).status().unwrap();
        assert!(shipped.success());
        self.topics.await_complete(logs);
        self.workers.drain(..).for_each(Running::stop);
        self.sink.take().unwrap().stop();
    }
}
