//! [`Queue`]: the lines that wait for the collector, and the counts of those that it did not get.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::endpoint::SignalKind;

/// The most bytes that wait. Without room, later lines are lost, or wait for it.
const MOST: usize = 16 << 20;

/// The most lines and the most bytes of a request.
pub(super) const LINES: usize = 512;
pub(super) const BYTES: usize = 1 << 20;

/// The lines that wait for the collector.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Notified when lines come, when some were sent or not, and when no more will come.
    changed: Condvar,
    /// Whether `push` blocks while the queue is full and the collector is healthy.
    is_patient: bool,
}

#[derive(Default)]
struct State {
    waiting: [VecDeque<String>; 3],
    bytes: usize,
    /// The lines that were not delivered: those that wait or are being sent, and those that are lost.
    undelivered: [u64; 3],
    /// Why lines were lost, or could not be sent yet.
    reason: Option<String>,
    /// Whether the collector has not taken the last request.
    is_failing: bool,
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
    pub(super) fn new(is_patient: bool) -> Self {
        Self { is_patient, ..Self::default() }
    }

    /// Adds a line; without room it is lost, unless the queue is patient.
    pub(super) fn push(&self, kind: SignalKind, line: String) {
        let is_full = |state: &mut State| state.bytes > 0 && state.bytes + line.len() > MOST;
        let mut state = self.lock();
        if self.is_patient {
            let has_to_wait = |state: &mut State| is_full(state) && !state.is_failing;
            let waited = self.changed.wait_while(state, has_to_wait);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.undelivered[kind as usize] += 1;
        if is_full(&mut state) {
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
        state.is_failing = false;
        self.changed.notify_all();
    }

    /// Notes why lines were not delivered.
    pub(super) fn note(&self, reason: String) {
        let mut state = self.lock();
        state.reason = Some(reason);
        state.is_failing = true;
        self.changed.notify_all();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> String {
        " ".repeat(1 << 20)
    }

    #[test]
    fn without_room_a_line_is_lost() {
        let queue = Queue::new(false);
        (0..20).for_each(|_| queue.push(SignalKind::Traces, line()));
        let mut taken = 0;
        while taken < 16 {
            let Portion { kind, lines } = queue.take().unwrap();
            queue.delivered(kind, lines.len() as u64);
            taken += lines.len();
        }
        let undelivered = queue.finish(Duration::ZERO);
        assert_eq!((undelivered.counts, taken), ([4, 0, 0], 16));
        assert!(queue.take().is_none());
    }

    #[test]
    fn a_patient_queue_waits_for_a_collector_that_takes() {
        let queue = Queue::new(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while let Some(Portion { kind, lines }) = queue.take() {
                    queue.delivered(kind, lines.len() as u64);
                }
                queue.end();
            });
            (0..40).for_each(|_| queue.push(SignalKind::Logs, line()));
            assert_eq!(queue.finish(Duration::from_secs(60)).counts, [0; 3]);
        });
    }

    #[test]
    fn a_patient_queue_does_not_wait_for_one_that_fails() {
        let queue = Queue::new(true);
        queue.note("it is away".to_owned());
        (0..20).for_each(|_| queue.push(SignalKind::Traces, line()));
        assert_eq!(queue.finish(Duration::ZERO).counts, [20, 0, 0]);
    }

    #[test]
    fn a_wait_ends_when_no_more_lines_come() {
        let queue = Queue::new(false);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| queue.wait(Duration::from_secs(600), false));
            queue.finish(Duration::from_millis(1));
            assert!(waits.join().unwrap() || queue.remaining().is_some());
            // The collector asked for more time than there is.
            assert!(!queue.wait(Duration::from_secs(600), true));
        });
    }
}
