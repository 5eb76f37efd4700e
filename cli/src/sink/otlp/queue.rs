//! [`Queue`]: the lines that wait for the collector, and the counts of those that it did not get.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::endpoint::SignalKind;

/// The most bytes that wait. Later lines are lost until there is room.
const MOST: usize = 16 << 20;

/// The most lines and the most bytes of a request.
const LINES: usize = 512;
const BYTES: usize = 1 << 20;

/// The lines that wait for the collector.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Notified when lines come, when one was sent, and when no more will come.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: [VecDeque<String>; 3],
    bytes: usize,
    /// The lines that were not delivered: those that wait or are being sent, and those that are lost.
    undelivered: [u64; 3],
    /// Why lines were lost, or could not be sent yet.
    reason: Option<String>,
    /// When to give up, once no more lines come.
    deadline: Option<Instant>,
    has_ended: bool,
}

/// Some lines of one kind, for one request.
pub(super) struct Portion {
    pub(super) kind: SignalKind,
    pub(super) lines: Vec<String>,
}

/// The lines that were not delivered, and why.
pub(super) struct Undelivered {
    pub(super) counts: [u64; 3],
    pub(super) reason: Option<String>,
}

impl Queue {
    /// Adds a line; it is lost if too many wait.
    pub(super) fn push(&self, kind: SignalKind, line: String) {
        let mut state = self.lock();
        state.undelivered[kind as usize] += 1;
        if state.bytes + line.len() > MOST {
            state.reason.get_or_insert_with(|| "more waited than are kept".to_owned());
            return;
        }
        state.bytes += line.len();
        state.waiting[kind as usize].push_back(line);
        self.changed.notify_all();
    }

    /// Takes lines for a request; waits until there are some. `None` if no more will come, or if it is too late.
    pub(super) fn take(&self) -> Option<Portion> {
        let mut state = self.lock();
        loop {
            if state.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return None;
            }
            let longest =
                SignalKind::ALL.into_iter().max_by_key(|kind| state.waiting[*kind as usize].len());
            if let Some(kind) = longest.filter(|kind| !state.waiting[*kind as usize].is_empty()) {
                return Some(state.portion(kind));
            }
            if state.deadline.is_some() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts lines as delivered.
    pub(super) fn delivered(&self, kind: SignalKind, count: u64) {
        let mut state = self.lock();
        let undelivered = &mut state.undelivered[kind as usize];
        *undelivered = undelivered.saturating_sub(count);
    }

    /// Notes why lines were not delivered.
    pub(super) fn note(&self, reason: String) {
        self.lock().reason = Some(reason);
    }

    /// Waits before another attempt. Returns whether there is time for it. If no more lines come meanwhile, a wait that
    /// the collector did not ask for ends.
    pub(super) fn wait(&self, delay: Duration, is_asked: bool) -> bool {
        let mut state = self.lock();
        let until = Instant::now() + delay;
        let was_last = state.deadline.is_some();
        loop {
            let hurries = !is_asked && !was_last;
            match state.deadline {
                Some(_) if hurries => return true,
                Some(deadline) if until >= deadline => return false,
                _ => {}
            }
            let now = Instant::now();
            if now >= until {
                return true;
            }
            let waited = self.changed.wait_timeout(state, until - now);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The time for another request; `None` for no limit.
    pub(super) fn remaining(&self) -> Option<Duration> {
        self.lock().deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Says that nothing is sent any more.
    pub(super) fn end(&self) {
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    /// Says that no more lines come, and waits until all are sent, at most for this time.
    pub(super) fn finish(&self, patience: Duration) -> Undelivered {
        let deadline = Instant::now() + patience;
        let mut state = self.lock();
        state.deadline = Some(deadline);
        self.changed.notify_all();
        while !state.has_ended {
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(state, rest);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Undelivered { counts: state.undelivered, reason: state.reason.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn portion(&mut self, kind: SignalKind) -> Portion {
        let waiting = &mut self.waiting[kind as usize];
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while let Some(line) = waiting.pop_front() {
            bytes += line.len();
            lines.push(line);
            if lines.len() == LINES || bytes >= BYTES {
                break;
            }
        }
        self.bytes -= bytes;
        Portion { kind, lines }
    }
}
