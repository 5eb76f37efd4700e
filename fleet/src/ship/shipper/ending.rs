//! The end of a run.

use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use super::super::{
    log::{Read, ShippedLog},
    outbox::SendError,
};
use super::{POLL, Shipper};

/// How long a stopped run waits for acknowledgements.
const LAST: Duration = Duration::from_secs(10);

impl Shipper<'_> {
    /// Completes the run without waiting for more data.
    pub(super) fn conclude(&mut self) -> Result<(), SendError> {
        if !self.args.complete {
            return Ok(());
        }
        // A file that was too short to be recognised gets no more data.
        loop {
            let round = self.round(true)?;
            if !round.is_busy && !round.is_unclear {
                break;
            }
            thread::sleep(POLL / 10);
        }
        let mut numbers: Vec<_> = self.logs.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            self.finish(number)?;
        }
        Ok(())
    }

    /// Declares a log complete.
    pub(super) fn finish(&mut self, number: usize) -> Result<(), SendError> {
        while self.logs.get(&number).is_some_and(ShippedLog::has_rest) && !self.has_room() {
            self.account()?;
            thread::sleep(POLL / 10);
        }
        while let Some(log) = self.logs.get_mut(&number)
            && (log.has_rest() || log.is_waiting())
        {
            let read = log.read(&self.common, &mut self.outbox)?;
            if log.is_open() {
                self.open.insert(number);
            }
            match read {
                Read::More => {}
                Read::Nothing => break,
                Read::Waiting => {
                    thread::sleep(POLL / 10);
                    self.account()?;
                    self.store()?;
                }
                // This is reported, and the log is not declared complete.
                Read::Lost(error) => {
                    self.lost(number, &error);
                    return Ok(());
                }
            }
        }
        let Some(log) = self.logs.get_mut(&number) else { return Ok(()) };
        log.finish(&self.common, &mut self.outbox)
    }

    /// Waits until everything that was sent is acknowledged.
    pub(super) fn flush(&mut self) -> Result<(), SendError> {
        for log in self.logs.values_mut() {
            log.mark_now()?;
        }
        self.await_acknowledgements()?;
        // Logs that were declared complete.
        for log in self.logs.values() {
            if let Some(shipped) = log.shipped()
                && self.stored.get(log.name.as_str()) != Some(&shipped)
            {
                self.stored.insert(log.name.as_str().to_owned(), shipped);
                self.is_changed = true;
            }
        }
        Ok(())
    }

    /// Waits for a stopped run only for a while.
    pub(super) fn await_acknowledgements(&mut self) -> Result<(), SendError> {
        let mut last = None;
        while self.outbox.on_its_way() > 0 {
            if self.stop.load(Ordering::Relaxed)
                && last.get_or_insert_with(Instant::now).elapsed() >= LAST
            {
                return Err(SendError::Stopped);
            }
            thread::sleep(POLL / 10);
            self.account()?;
        }
        Ok(self.account()?)
    }
}
