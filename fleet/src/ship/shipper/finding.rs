//! Finds logs: new logs, and logs of an earlier run.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use foldline::source::SourceError;

use super::super::{
    examine::{Examination, Look, examine, log_name, untaken_name},
    finder::{Discovery, Sibling, is_rotated},
    log::ShippedLog,
    outbox::SendError,
};
use super::{AGAIN, POLL, Round, Shipper, reading::report_lost};
use crate::error::report;

/// How long to wait for a file that may be a log.
const PATIENCE: Duration = Duration::from_secs(10);

/// The maximum number of unshipped files that a run names; a folder may hold thousands.
const NAMED: usize = 100;

impl Shipper<'_> {
    /// Finds new files.
    pub(super) fn find(&mut self) -> Result<(), SendError> {
        let (found, is_unclear) = self.finder.find(&self.logs, &self.by_path, &self.stored);
        self.is_unclear = is_unclear;
        for found in found {
            match found {
                Discovery::Stored(path, names) => self.resume(path, names),
                Discovery::Moved(path, name) => self.resume(path, vec![name]),
                Discovery::New(path) => self.candidate(path),
            }
            // Many files may be found at once.
            self.account()?;
        }
        if self.is_unclear {
            self.finder.again(POLL);
        }
        Ok(())
    }

    pub(super) fn candidate(&mut self, path: PathBuf) {
        self.candidates.entry(path).or_insert_with(Candidate::new);
    }

    /// Resumes the first of these logs that the file at the path continues.
    pub(super) fn resume(&mut self, path: PathBuf, names: Vec<String>) {
        for name in names {
            if !self.has_room() {
                self.is_unclear = true;
                return;
            }
            let Some(shipped) = self.stored.get_mut(&name) else { continue };
            let mut log =
                ShippedLog::resumed(self.next, &name, path.clone(), shipped, &self.common);
            if log.is_as_it_was() {
                self.add(log);
                return;
            }
            match log.open() {
                Ok(()) => {
                    self.add(log);
                    return;
                }
                Err(SourceError::Unrecognised { .. }) if is_rotated(&path) => {
                    self.is_unclear = true;
                    return;
                }
                Err(error @ SourceError::Unrecognised { .. }) => {
                    log.lose(error.to_string());
                    shipped.is_replaced = true;
                    shipped.holes = log.holes;
                    (self.is_changed, self.has_lost) = (true, true);
                    report_lost(&error);
                }
                // Retried in the next search of the folders.
                Err(error) => {
                    log.trouble = Some(error.to_string());
                    report(&format!("{error}; retrying"));
                    self.add(log);
                    return;
                }
            }
        }
        self.candidate(path);
    }

    pub(super) fn add(&mut self, log: ShippedLog) {
        if log.is_open() {
            self.open.insert(self.next);
        }
        self.by_path.insert(log.path.clone(), self.next);
        self.names.insert(log.name.as_str().to_owned());
        self.logs.insert(self.next, log);
        self.next += 1;
    }

    /// Examines files that may be logs.
    pub(super) fn examine(&mut self, is_last: bool, round: &mut Round) -> Result<(), SendError> {
        let now = Instant::now();
        let due = self.candidates.iter().filter(|(_, it)| is_last || it.next <= now);
        let mut due: Vec<PathBuf> = due.map(|(path, _)| path.clone()).collect();
        due.sort_unstable();
        for path in due {
            if !self.has_room() {
                round.is_unclear = true;
                break;
            }
            let seen = Look::at(&path);
            let Some(candidate) = self.candidates.get_mut(&path) else { continue };
            match Sibling::of(&path, &self.logs, &self.by_path) {
                Sibling::Unclear => {
                    candidate.next = now + POLL;
                    round.is_unclear = true;
                    continue;
                }
                Sibling::Part => {
                    self.candidates.remove(&path);
                    continue;
                }
                Sibling::Log => {}
            }
            let is_final = is_last || self.args.once || candidate.since.elapsed() >= PATIENCE;
            candidate.next = now + AGAIN;
            if seen == candidate.seen && (candidate.is_reported || !is_final) {
                continue;
            }
            let examined = match seen {
                None => None,
                Some(_) => {
                    let executor = &self.args.executor;
                    Some(examine(self.registry, executor, &path, is_final))
                }
            };
            match examined {
                None => {
                    self.candidates.remove(&path);
                }
                Some(Ok(Examination::Undecided)) => {}
                Some(Ok(Examination::Log(format, begin))) => {
                    let name = log_name(&self.common.host, &path.to_string_lossy(), &begin);
                    let name = untaken_name(name, |name| self.names.contains(name));
                    let (number, format) = (self.next, format.to_owned());
                    let mut log =
                        ShippedLog::new(number, &name, path.clone(), format, &self.common);
                    round.is_busy = log.open().is_ok();
                    // Another file may have the name by now; it is examined the next time.
                    let number = (begin.device, begin.inode);
                    let is_separate =
                        matches!(Sibling::of(&path, &self.logs, &self.by_path), Sibling::Log);
                    let is_here = Look::at(&path).is_some_and(|here| here.number == number);
                    if round.is_busy && is_separate && is_here && log.file_number() == Some(number)
                    {
                        self.candidates.remove(&path);
                        self.add(log);
                    }
                }
                Some(Err(error)) => {
                    candidate.seen = seen;
                    if !std::mem::replace(&mut candidate.is_reported, true) {
                        self.unshipped += 1;
                        match self.unshipped {
                            ..NAMED => report(&format!("{error}; not shipped")),
                            NAMED => report("further unshipped files are not listed"),
                            _ => {}
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// A file that may be a log.
pub(super) struct Candidate {
    pub(super) since: Instant,
    /// Its metadata when it was last examined.
    pub(super) seen: Option<Look>,
    pub(super) next: Instant,
    /// It was reported as not shipped.
    pub(super) is_reported: bool,
}

impl Candidate {
    /// A file that was just found, due for examination.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { since: now, seen: None, next: now, is_reported: false }
    }
}
