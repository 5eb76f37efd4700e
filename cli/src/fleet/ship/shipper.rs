//! [`Shipper`]: a run of `foldline ship`.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use foldline::source::SourceError;

use super::{
    INTERVAL, ShipArgs,
    checkpoint::{Checkpoint, Logs},
    examine::{Examined, examine},
    finder::{Finder, Found},
    log::{Common, Read, ShippedLog},
    look::Look,
    naming,
    outbox::{Outbox, Unsent, say},
};
use crate::{error::Error, exit, program::Program};

/// How many files are open at once.
const OPEN: usize = 128;

/// How long nothing is done when nothing came, and how often a log is looked at.
const POLL: Duration = Duration::from_millis(100);

/// How many logs are looked at in a second, if not all of them every time.
const LOOKS: usize = 2_000;

/// How long a file that may be a log is waited for, and how long it is until it is examined again.
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_secs(1);

/// How long a run that was stopped waits for what is on its way.
const LAST: Duration = Duration::from_secs(10);

/// Files that may be logs.
struct Candidate {
    since: Instant,
    /// What stood there when it was examined last.
    seen: Option<Look>,
    next: Instant,
    /// It was said that it is not shipped.
    is_said: bool,
}

pub(super) struct Shipper<'a> {
    program: &'a Program,
    args: &'a ShipArgs,
    common: Common,
    outbox: Outbox,
    checkpoint: Checkpoint,
    /// What the checkpoint holds, or will.
    stored: Logs,
    /// When it was stored, if anything was changed since; and how long that took.
    is_changed: bool,
    last_store: Instant,
    interval: Duration,
    finder: Finder<'a>,
    stop: Arc<AtomicBool>,
    logs: HashMap<usize, ShippedLog>,
    by_path: HashMap<PathBuf, usize>,
    /// The number of the next log.
    next: usize,
    /// The logs whose files are open.
    open: HashSet<usize>,
    candidates: HashMap<PathBuf, Candidate>,
    /// There are files of which it could not be told yet whether they are logs of their own.
    is_unclear: bool,
    /// When anything last came.
    last_change: Instant,
}

/// What one round came to.
#[derive(Default)]
struct Round {
    /// Something was read.
    is_busy: bool,
    /// There are logs, or files that may be, that could not be looked at in this round.
    is_unclear: bool,
}

impl<'a> Shipper<'a> {
    pub(super) fn new(
        program: &'a Program,
        args: &'a ShipArgs,
        common: Common,
        outbox: Outbox,
        (checkpoint, stored): (Checkpoint, Logs),
        finder: Finder<'a>,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let now = Instant::now();
        Self {
            program,
            args,
            common,
            outbox,
            checkpoint,
            stored,
            is_changed: false,
            last_store: now,
            interval: INTERVAL,
            finder,
            stop,
            logs: HashMap::new(),
            by_path: HashMap::new(),
            next: 0,
            open: HashSet::new(),
            candidates: HashMap::new(),
            is_unclear: false,
            last_change: now,
        }
    }

    /// Ships until the end.
    pub(super) fn run(mut self) -> Result<u8, Error> {
        let followed = self.follow();
        // What was acknowledged is stored however this ends.
        let stored = self.account().and_then(|()| self.store());
        match followed {
            Ok(code) => stored.map(|()| code),
            Err(Unsent::Failed(error)) => Err(error),
            Err(Unsent::Stopped) => {
                stored?;
                let left = self.outbox.on_its_way();
                Err(Error::Shipping(format!(
                    "stopped while the brokers did not take what was read: {left} messages are not acknowledged; \
                     the next run goes on from what is"
                )))
            }
        }
    }

    fn follow(&mut self) -> Result<u8, Unsent> {
        while !self.stop.load(Ordering::Relaxed) {
            let round = match self.round(false) {
                Err(Unsent::Stopped) => break,
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
            thread::sleep(POLL);
        }
        self.flush()?;
        let is_whole =
            !self.finder.has_failed() && self.logs.values().all(|log| log.trouble.is_none());
        Ok(if is_whole { exit::FINE } else { exit::FAILED })
    }

    /// Looks at everything once. `is_last`: nothing more is waited for.
    fn round(&mut self, is_last: bool) -> Result<Round, Unsent> {
        self.account()?;
        let mut round = Round::default();
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
        if self.is_changed && self.last_store.elapsed() >= self.interval {
            self.store()?;
        }
        Ok(round)
    }

    /// Finds what is new.
    fn find(&mut self) -> Result<(), Unsent> {
        let (found, is_unclear) = self.finder.find(&self.logs, &self.by_path, &self.stored);
        self.is_unclear = is_unclear;
        for found in found {
            match found {
                Found::Stored(path, names) => self.resume(path, names),
                Found::Moved(path, name) => self.resume(path, vec![name]),
                Found::New(path) => self.candidate(path),
            }
            // Many are found at once.
            self.account()?;
        }
        if self.is_unclear {
            self.finder.again(POLL);
        }
        Ok(())
    }

    fn candidate(&mut self, path: PathBuf) {
        let now = Instant::now();
        let candidate = Candidate { since: now, seen: None, next: now, is_said: false };
        self.candidates.entry(path).or_insert(candidate);
    }

    /// Goes on with the first of these logs that the file at the path goes on with.
    fn resume(&mut self, path: PathBuf, names: Vec<String>) {
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
                Err(error @ SourceError::Unrecognised { .. }) => {
                    shipped.is_replaced = true;
                    self.is_changed = true;
                    say_lost(&error);
                }
                // It is tried again when the folders are looked at the next time.
                Err(error) => {
                    log.trouble = Some(error.to_string());
                    say(&format!("{error}; it is tried again"));
                    self.add(log);
                    return;
                }
            }
        }
        self.candidate(path);
    }

    fn add(&mut self, log: ShippedLog) {
        if log.is_open() {
            self.open.insert(self.next);
        }
        self.by_path.insert(log.path.clone(), self.next);
        self.logs.insert(self.next, log);
        self.next += 1;
    }

    /// Examines files that may be logs.
    fn examine(&mut self, is_last: bool, round: &mut Round) -> Result<(), Unsent> {
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
            let is_final = is_last || self.args.once || candidate.since.elapsed() >= PATIENCE;
            candidate.next = now + AGAIN;
            if seen == candidate.seen && (candidate.is_said || !is_final) {
                continue;
            }
            let examined = match seen {
                None => None,
                Some(_) => {
                    let executor = &self.args.executor;
                    Some(examine(&self.program.registry, executor, &path, is_final))
                }
            };
            match examined {
                None => {
                    self.candidates.remove(&path);
                }
                Some(Ok(Examined::Undecided)) => {}
                Some(Ok(Examined::Log(format, begin))) => {
                    let name = naming::name(&self.common.host, &path.to_string_lossy(), &begin);
                    let is_active =
                        |name: &str| self.logs.values().any(|log| log.name.as_str() == name);
                    let name = naming::untaken(name, |name| {
                        self.stored.contains_key(name) || is_active(name)
                    });
                    let (number, format) = (self.next, format.to_owned());
                    let mut log =
                        ShippedLog::new(number, &name, path.clone(), format, &self.common);
                    round.is_busy = log.open().is_ok();
                    // Another file may have the name by now, which is examined the next time.
                    if round.is_busy && log.file_number() == Some((begin.device, begin.inode)) {
                        self.candidates.remove(&path);
                        self.add(log);
                    }
                }
                Some(Err(error)) => {
                    candidate.seen = seen;
                    if !std::mem::replace(&mut candidate.is_said, true) {
                        say(&format!("{error}; it is not shipped"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads a log, if something may have happened to it.
    fn read(&mut self, number: usize, round: &mut Round) -> Result<(), Unsent> {
        let looks = self.logs.len() / LOOKS;
        let has_room = self.open.contains(&number) || self.has_room();
        let Some(log) = self.logs.get_mut(&number) else { return Ok(()) };
        let longest = POLL.max(Duration::from_secs(looks as u64));
        log.next_look = Instant::now() + (log.last_change.elapsed() / 20).clamp(POLL, longest);
        if !log.is_changed() {
            log.is_done = true;
            return Ok(());
        }
        if !has_room {
            round.is_unclear = true;
            return Ok(());
        }
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
            Read::Lost(error) => self.lost(number, &error),
        }
        Ok(())
    }

    /// A log that cannot be read on.
    fn lost(&mut self, number: usize, error: &SourceError) {
        let Some(log) = self.logs.get_mut(&number) else { return };
        log.is_done = true;
        if !matches!(error, SourceError::Unrecognised { .. }) {
            // Without a file there is nothing to ship, until there is one again.
            let trouble = (!error.is_not_found()).then(|| error.to_string());
            if let Some(trouble) = trouble.as_ref().filter(|_| log.trouble != trouble) {
                say(&format!("{trouble}; it is tried again"));
            }
            log.trouble = trouble;
            log.next_look = Instant::now() + AGAIN;
            return;
        }
        say_lost(error);
        if let Some(shipped) = self.stored.get_mut(log.name.as_str()) {
            shipped.is_replaced = true;
            self.is_changed = true;
        }
        let path = log.path.clone();
        self.by_path.remove(&path);
        self.logs.remove(&number);
        self.open.remove(&number);
        self.candidate(path);
    }

    /// Whether another file can be opened; closes one that has been quiet, if need be.
    fn has_room(&mut self) -> bool {
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

    /// Takes note of what the brokers have acknowledged.
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
            // A long checkpoint is not stored all the time.
            self.interval = INTERVAL.max(begun.elapsed() * 20);
        }
        Ok(())
    }

    /// Nothing more is waited for.
    fn conclude(&mut self) -> Result<(), Unsent> {
        if !self.args.complete {
            return Ok(());
        }
        // What was too little to be recognised is all there is.
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
    fn finish(&mut self, number: usize) -> Result<(), Unsent> {
        while self.logs.get(&number).is_some_and(ShippedLog::has_rest) && !self.has_room() {
            self.account()?;
            thread::sleep(POLL / 10);
        }
        let Some(log) = self.logs.get_mut(&number) else { return Ok(()) };
        while log.has_rest() {
            match log.read(&self.common, &mut self.outbox)? {
                Read::More => {}
                Read::Nothing => break,
                // This is said, and the log is not complete.
                Read::Lost(error) => {
                    self.lost(number, &error);
                    return Ok(());
                }
            }
        }
        if log.is_open() {
            self.open.insert(number);
        }
        log.finish(&self.common, &mut self.outbox)
    }

    /// Waits until everything is acknowledged that was sent.
    fn flush(&mut self) -> Result<(), Unsent> {
        for log in self.logs.values_mut() {
            log.mark_now()?;
        }
        let mut last = None;
        while self.outbox.on_its_way() > 0 {
            if self.stop.load(Ordering::Relaxed)
                && last.get_or_insert_with(Instant::now).elapsed() >= LAST
            {
                return Err(Unsent::Stopped);
            }
            thread::sleep(POLL / 10);
            self.account()?;
        }
        self.account()?;
        // Those that were declared complete.
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
}

fn say_lost(error: &SourceError) {
    say(&format!(
        "{error}; the file that stands there now is another log, and what was added to the one before since may be \
         missing"
    ));
}

impl From<Error> for Unsent {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
