//! Real brokers for tests, started by the script `fleet/broker`.
#![allow(dead_code)]

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// A cluster that runs until it is dropped.
pub(crate) struct Cluster {
    folder: TempDir,
    /// Its addresses, for `bootstrap.servers`.
    pub(crate) addresses: String,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("broker")
}

impl Cluster {
    /// Starts brokers.
    pub(crate) fn start(brokers: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let started = Command::new(script())
            .args(["start", folder.path().to_str().unwrap(), &brokers.to_string()])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let addresses = String::from_utf8(started.stdout).unwrap().trim().to_owned();
        Self { folder, addresses }
    }

    /// The addresses that ask for a password: PLAIN, of the user `fleet`.
    pub(crate) fn secured(&self) -> String {
        let addresses = std::fs::read_to_string(self.folder.path().join("addresses.sasl"));
        addresses.unwrap().trim().to_owned()
    }

    /// The bytes of a topic on the disk of the first broker.
    pub(crate) fn stored(&self, topic: &str) -> usize {
        let prefix = format!("{topic}-");
        let mut bytes = 0;
        for folder in std::fs::read_dir(self.folder.path().join("1/data")).unwrap().flatten() {
            if folder.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)) {
                let files = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
                let logs =
                    files.filter(|file| file.path().extension().is_some_and(|end| end == "log"));
                bytes += logs
                    .map(|log| log.metadata().map_or(0, |log| log.len() as usize))
                    .sum::<usize>();
            }
        }
        bytes
    }

    /// Kills one of the brokers; the first is number 1.
    pub(crate) fn kill(&self, number: usize) {
        self.run("kill", number);
    }

    /// Restarts a broker that was killed.
    pub(crate) fn restart(&self, number: usize) {
        self.run("start", number);
    }

    /// Restarts all brokers, after all were killed.
    pub(crate) fn restart_all(&self) {
        let ran = Command::new(script()).arg("start").arg(self.folder.path()).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }

    /// Suspends a broker: connections to it stay open, but it does not respond.
    pub(crate) fn pause(&self, number: usize) {
        self.run("pause", number);
    }

    /// Resumes a [paused](Self::pause) broker.
    pub(crate) fn resume(&self, number: usize) {
        self.run("resume", number);
    }

    fn run(&self, what: &str, number: usize) {
        let node = self.folder.path().join(number.to_string());
        let ran = Command::new(script()).arg(what).arg(node).status().unwrap();
        assert!(ran.success());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = Command::new(script()).arg("stop").arg(self.folder.path()).status();
    }
}

/// A cluster in a relative folder is restarted from another folder.
#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_relative_folder_is_found_from_every_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str], from: &Path| {
        let ran = Command::new(script()).args(arguments).current_dir(from).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    let (whole, node) = (folder.path().join("one"), folder.path().join("one/1"));
    let (whole, node) = (whole.to_str().unwrap(), node.to_str().unwrap());
    run(&["start", "one"], folder.path());
    run(&["kill", node], Path::new("/"));
    let restarted = Command::new(script()).args(["start", node]).current_dir("/").output();
    run(&["stop", whole], Path::new("/"));
    let restarted = restarted.unwrap();
    assert!(restarted.status.success(), "{}", String::from_utf8_lossy(&restarted.stderr));
}
