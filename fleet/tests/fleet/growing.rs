//! Logs that grow while they are shipped.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use super::Log;
use crate::random::Random;

/// A folder of logs that grow piece by piece to their final content.
pub(crate) struct Growing {
    logs: Vec<GrowingLog>,
}

struct GrowingLog {
    path: PathBuf,
    content: Vec<u8>,
    written: usize,
    is_rotated: bool,
}

impl Growing {
    /// Each log gets a separate file, which is initially empty.
    pub(crate) fn new(folder: &Path, logs: &[Log]) -> Self {
        let file = |(number, log): (usize, &Log)| {
            // Some agents encode data in file names.
            let path = folder.join(number.to_string());
            fs::create_dir_all(&path).unwrap();
            let path = path.join(Path::new(&log.path).file_name().unwrap());
            GrowingLog { path, content: log.content.clone(), written: 0, is_rotated: false }
        };
        Self { logs: logs.iter().enumerate().map(file).collect() }
    }

    /// Writes about this share of the content: lines, and at the end a part of one.
    pub(crate) fn grow(&mut self, random: &mut Random, share: f64) {
        for log in &mut self.logs {
            let most = (log.content.len() as f64 * share * 2.0) as usize + 1;
            log.write_to(log.written + random.below(most + 1));
        }
    }

    /// The number of logs.
    pub(super) fn count(&self) -> usize {
        self.logs.len()
    }

    pub(crate) fn complete(&mut self) {
        self.logs.iter_mut().for_each(|log| log.write_to(log.content.len()));
    }

    /// The paths of the logs that were rotated.
    pub(crate) fn rotated(&self) -> BTreeSet<PathBuf> {
        let rotated = self.logs.iter().filter(|log| log.is_rotated);
        rotated.map(|log| log.path.clone()).collect()
    }

    /// Writes all logs, each in one file.
    pub(crate) fn write_whole(&self, from: &Path, to: &Path) {
        for log in &self.logs {
            let path = to.join(log.path.strip_prefix(from).unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &log.content).unwrap();
        }
    }

    /// Rotates a log at the end of a line. A log that is rotated before its shipper knows it is two logs: it is left
    /// alone.
    pub(super) fn rotate(&mut self, number: usize, rotate: fn(&Path), checkpoint: &Path) {
        let log = &mut self.logs[number];
        let known = fs::read_to_string(checkpoint).unwrap_or_default();
        if !known.contains(&format!("{:?}", log.path)) {
            return;
        }
        let rest = &log.content[log.written..];
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { return };
        log.write_to(log.written + end + 1);
        rotate(&log.path);
        log.is_rotated = true;
        let half = log.content[log.written..].len().min(40);
        log.write_to(log.written + half);
    }
}

impl GrowingLog {
    fn write_to(&mut self, end: usize) {
        let end = end.min(self.content.len());
        let mut file = fs::OpenOptions::new().append(true).create(true).open(&self.path).unwrap();
        file.write_all(&self.content[self.written..end]).unwrap();
        self.written = end;
    }
}
