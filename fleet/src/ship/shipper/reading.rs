//! Reads logs, with a limited number of open files.

use std::time::{Duration, Instant};

use foldline::source::SourceError;

use super::super::{
    finder::is_rotated,
    log::{Read, ShippedLog},
    outbox::SendError,
};
use super::{AGAIN, POLL, Round, Shipper};
use crate::error::report;

/// The maximum number of open files.
const OPEN: usize = 128;

/// The number of logs that are polled per second, if not all of them every time.
const LOOKS: usize = 2_000;

impl Shipper<'_> {
    /// Reads a log if it may have changed.
    pub(super) fn read(&mut self, number: usize, round: &mut Round) -> Result<(), SendError> {
        let looks = self.logs.len() / LOOKS;
        let Some(log) = self.logs.get_mut(&number) else { return Ok(()) };
        let longest = POLL.max(Duration::from_secs(looks as u64));
        log.next_look = Instant::now() + (log.last_change.elapsed() / 20).clamp(POLL, longest);
        if !log.is_changed() {
            log.is_done = true;
            return Ok(());
        }
        if is_rotated(&log.path) && !log.is_settled() {
            self.let_go(number);
            round.is_unclear = true;
            return Ok(());
        }
        if !log.is_open() && !self.has_room() {
            round.is_unclear = true;
            return Ok(());
        }
        let Some(log) = self.logs.get_mut(&number) else { return Ok(()) };
        let before = log.last_change;
        let read = log.read(&self.common, &mut self.outbox);
        if log.is_open() {
            self.open.insert(number);
        }
        round.is_busy |= log.last_change != before;
        match read? {
            Read::More => {
                log.trouble = None;
                log.next_look = Instant::now();
                round.is_busy = true;
            }
            Read::Nothing => {
                log.trouble = None;
                log.is_done = log.is_settled();
                round.is_unclear |= !log.is_done;
            }
            Read::Waiting => {
                log.trouble = None;
                log.next_look = Instant::now();
                (round.is_waiting, round.is_unclear) = (true, true);
            }
            Read::Lost(error) => self.lost(number, &error),
        }
        Ok(())
    }

    /// Handles a log that can no longer be read.
    pub(super) fn lost(&mut self, number: usize, error: &SourceError) {
        let Some(log) = self.logs.get_mut(&number) else { return };
        log.is_done = true;
        if matches!(error, SourceError::Unrecognised { .. }) && is_rotated(&log.path) {
            self.let_go(number);
            return;
        }
        if !matches!(error, SourceError::Unrecognised { .. }) {
            // A missing file is not an error: it may reappear.
            let trouble = (!error.is_not_found()).then(|| error.to_string());
            if let Some(trouble) = trouble.as_ref().filter(|_| log.trouble != trouble) {
                report(&format!("{trouble}; retrying"));
            }
            log.trouble = trouble;
            log.next_look = Instant::now() + AGAIN;
            return;
        }
        report_lost(error);
        log.lose(error.to_string());
        self.has_lost = true;
        if let Some(shipped) = self.stored.get_mut(log.name.as_str()) {
            shipped.is_replaced = true;
            shipped.holes.clone_from(&log.holes);
            self.is_changed = true;
        }
        let path = log.path.clone();
        self.by_path.remove(&path);
        self.logs.remove(&number);
        self.open.remove(&number);
        self.candidate(path);
    }

    /// Ships a rotated file no longer under this name, which another file has by now. It is found again under its new
    /// name.
    fn let_go(&mut self, number: usize) {
        if let Some(log) = self.logs.remove(&number) {
            self.by_path.remove(&log.path);
        }
        self.open.remove(&number);
        self.finder.again(Duration::ZERO);
    }

    /// Whether another file can be opened; closes an idle file if necessary.
    pub(super) fn has_room(&mut self) -> bool {
        if self.open.len() < OPEN {
            return true;
        }
        let mut quiet: Vec<_> = self.open.iter().copied().collect();
        quiet.sort_by_key(|number| self.logs.get(number).map(|log| log.last_change));
        let closed = quiet
            .into_iter()
            .find(|number| self.logs.get_mut(number).is_none_or(ShippedLog::close));
        closed.is_some_and(|number| self.open.remove(&number))
    }
}

/// Reports that a log may have ended before it was read completely.
pub(super) fn report_lost(error: &SourceError) {
    report(&format!(
        "{error}; the file at this path is now another log, and data that was appended to the previous one since \
         may be missing"
    ));
}
