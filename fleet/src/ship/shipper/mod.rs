//! [`Shipper`]: a run of `foldline-fleet ship`.

mod ending;
mod finding;
mod reading;

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use foldline_agents::Registry;

use self::finding::Candidate;
use super::{
    ShipArgs,
    checkpoint::{Checkpoint, INTERVAL, Logs, Shipped},
    finder::Finder,
    log::{Common, ShippedLog},
    mask::note,
    outbox::{Outbox, SendError},
    reporting::Reporting,
};
use crate::{
    error::{Error, report},
    exporter::{HOLES, Heartbeat, MissingBytes, milliseconds},
    piece::Place,
};

/// The pause when there is no new data, and the interval at which a log is polled.
const POLL: Duration = Duration::from_millis(100);

/// The delay before a file is retried.
const AGAIN: Duration = Duration::from_secs(1);

/// The state of a run.
pub(super) struct Shipper<'a> {
    registry: &'a Registry,
    args: &'a ShipArgs,
    common: Common,
    outbox: Outbox,
    checkpoint: Checkpoint,
    /// The content of the checkpoint, stored or still to be stored.
    stored: Logs,
    /// Whether it has to be stored, the time of the last store, and how long that took.
    is_changed: bool,
    last_store: Instant,
    storing: Duration,
    finder: Finder<'a>,
    reporting: Reporting,
    stop: Arc<AtomicBool>,
    logs: HashMap<usize, ShippedLog>,
    by_path: HashMap<PathBuf, usize>,
    /// All names in use.
    names: HashSet<String>,
    /// The number of the next log.
    next: usize,
    /// The logs with open files.
    open: HashSet<usize>,
    candidates: HashMap<PathBuf, Candidate>,
    /// The number of files that are not shipped, because they are not logs.
    unshipped: usize,
    /// Some files could not be classified yet as separate logs.
    is_unclear: bool,
    /// Bytes of a log that is no longer shipped may be missing.
    has_lost: bool,
    /// The time of the last new data.
    last_change: Instant,
}

/// The outcome of a round.
#[derive(Default)]
struct Round {
    /// Something was read.
    is_busy: bool,
    /// Some logs, or candidates, could not be examined in this round.
    is_unclear: bool,
    /// Some logs wait for the checkpoint to be stored.
    is_waiting: bool,
}

impl<'a> Shipper<'a> {
    pub(super) fn new(
        registry: &'a Registry,
        args: &'a ShipArgs,
        common: Common,
        outbox: Outbox,
        (checkpoint, stored): (Checkpoint, Logs),
        (finder, reporting): (Finder<'a>, Reporting),
        stop: Arc<AtomicBool>,
    ) -> Self {
        let now = Instant::now();
        Self {
            registry,
            args,
            common,
            outbox,
            checkpoint,
            names: stored.keys().cloned().collect(),
            stored,
            is_changed: false,
            last_store: now,
            storing: Duration::ZERO,
            finder,
            reporting,
            stop,
            logs: HashMap::new(),
            by_path: HashMap::new(),
            next: 0,
            open: HashSet::new(),
            candidates: HashMap::new(),
            unshipped: 0,
            is_unclear: false,
            has_lost: false,
            last_change: now,
        }
    }

    /// Ships until the end.
    pub(super) fn run(mut self) -> Result<ExitCode, Error> {
        let followed = self.follow().and_then(|code| {
            self.report(true);
            self.await_acknowledgements().map(|()| code)
        });
        // Acknowledged positions are stored regardless of the outcome.
        let stored = self.account().and_then(|()| self.store());
        if let Some(masker) = &self.common.masker {
            report(&note(&masker.borrow()));
        }
        match followed {
            Ok(code) => stored.map(|()| code),
            Err(SendError::Failed(error)) => Err(error),
            Err(SendError::Stopped) => {
                stored?;
                let left = self.outbox.on_its_way();
                Err(Error::Shipping(format!(
                    "stopped before the brokers accepted everything: {left} messages are not acknowledged; \
                     the next run resumes after the acknowledged ones"
                )))
            }
        }
    }

    fn follow(&mut self) -> Result<ExitCode, SendError> {
        while !self.stop.load(Ordering::Relaxed) {
            let round = match self.round(false) {
                Err(SendError::Stopped) => break,
                round => round?,
            };
            if round.is_busy {
                self.last_change = Instant::now();
                continue;
            }
            let is_idle = |idle| self.last_change.elapsed() >= idle;
            let is_over = self.args.once || self.args.idle_exit.is_some_and(is_idle);
            if is_over && !round.is_unclear {
                self.conclude()?;
                break;
            }
            thread::sleep(if round.is_waiting { POLL / 10 } else { POLL });
        }
        self.flush()?;
        let is_whole = !self.has_lost
            && !self.finder.has_failed()
            && self.logs.values().all(|log| log.trouble.is_none() && !log.has_lost);
        Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Polls everything once. `is_last` means that no more data is awaited.
    fn round(&mut self, is_last: bool) -> Result<Round, SendError> {
        self.account()?;
        let mut round = Round::default();
        self.report(false);
        if self.finder.is_due() {
            self.find()?;
        }
        round.is_unclear |= self.is_unclear;
        self.examine(is_last, &mut round)?;
        let now = Instant::now();
        let is_due = |log: &ShippedLog| match self.args.once {
            true => !log.is_done,
            false => is_last || log.next_look <= now,
        };
        let due = self.logs.iter().filter(|(_, log)| is_due(log));
        let mut due: Vec<_> = due.map(|(number, _)| *number).collect();
        due.sort_unstable();
        for number in due {
            self.read(number, &mut round)?;
        }
        self.account()?;
        // A long checkpoint is stored less often.
        let interval = match round.is_waiting {
            true => self.storing,
            false => INTERVAL.max(self.storing * 20),
        };
        if self.last_store.elapsed() >= interval {
            self.store()?;
        }
        Ok(round)
    }

    /// Processes acknowledgements.
    fn account(&mut self) -> Result<(), Error> {
        let mut touched = HashSet::new();
        for ticket in self.outbox.acknowledged() {
            if let Some(log) = self.logs.get_mut(&ticket.log) {
                log.flight.acknowledge(ticket.piece);
                touched.insert(ticket.log);
            }
        }
        let open = self.open.iter().copied();
        for number in touched.into_iter().chain(open.collect::<Vec<_>>()) {
            let Some(log) = self.logs.get_mut(&number) else { continue };
            if log.settle()
                && let Some(shipped) = log.shipped()
            {
                self.stored.insert(log.name.as_str().to_owned(), shipped);
                self.is_changed = true;
            }
        }
        let shown = |number| Some(self.logs.get(&number)?.shown.clone());
        self.outbox.check(shown)
    }

    fn store(&mut self) -> Result<(), Error> {
        if self.is_changed {
            let begun = Instant::now();
            self.checkpoint.store(&self.stored)?;
            self.is_changed = false;
            self.last_store = Instant::now();
            self.storing = begun.elapsed();
            let open = self.open.iter();
            for number in open {
                if let Some(log) = self.logs.get_mut(number) {
                    log.checkpoint_stored();
                }
            }
        }
        Ok(())
    }
}

impl From<Error> for SendError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Shipper<'_> {
    /// Reports the state of this run, if that is due, or if the run has ended.
    pub(super) fn report(&mut self, ended: bool) {
        if !(ended || self.reporting.is_due()) {
            return;
        }
        let (pieces, bytes) = self.outbox.sent();
        let unreadable = self.logs.values().filter(|log| log.trouble.is_some()).count();
        let holes: Vec<_> = self.stored.iter().flat_map(holes).collect();
        let report = Heartbeat {
            ended,
            logs: self.logs.len() as u64,
            unreadable: unreadable as u64,
            pieces,
            bytes,
            unacknowledged: self.outbox.on_its_way(),
            acknowledged_at: self.outbox.last_piece().map(milliseconds),
            hole_count: holes.len() as u64,
            holes: holes.into_iter().take(HOLES).collect(),
            ..Heartbeat::default()
        };
        self.reporting.report(&mut self.outbox, report);
    }
}

/// The positions of a log at which bytes may be missing.
fn holes<'l>((name, log): (&'l String, &'l Shipped)) -> impl Iterator<Item = MissingBytes> + 'l {
    log.holes.iter().map(move |hole| MissingBytes {
        source: name.clone(),
        path: log.path.clone(),
        position: Place { file: hole.file, offset: hole.offset }.to_string(),
        note: hole.note.clone(),
    })
}
