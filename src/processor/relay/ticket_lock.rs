//! [`TicketLock`]: a value that several threads use in a fixed order.

use std::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// How often a thread polls for its turn before it sleeps: waking it takes longer than most turns.
const LOOKS: usize = 200;

/// The number of the next turn after the turns were stopped.
const STOPPED: u64 = u64::MAX;

/// A value that is used in numbered turns, each of which waits for the previous one.
pub(super) struct TicketLock<T> {
    value: Mutex<T>,
    /// Changed only while the value is locked.
    next: AtomicU64,
    changed: Condvar,
}

impl<T> TicketLock<T> {
    /// A value whose first turn has the number 0.
    pub(super) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), next: AtomicU64::new(0), changed: Condvar::new() }
    }

    /// Waits for a turn, uses the value, and passes the turn on; `None` if the turns were [stopped](Self::stop).
    pub(super) fn take<O>(&self, number: u64, act: impl FnOnce(&mut T) -> O) -> Option<O> {
        let mut value = self.wait(number)?;
        let out = act(&mut value);
        self.next.store(number + 1, Ordering::Release);
        drop(value);
        self.changed.notify_all();
        Some(out)
    }

    /// Like `take`, without passing the turn on: it can be taken again.
    pub(super) fn keep<O>(&self, number: u64, act: impl FnOnce(&mut T) -> O) -> Option<O> {
        Some(act(&mut *self.wait(number)?))
    }

    fn wait(&self, number: u64) -> Option<MutexGuard<'_, T>> {
        for _ in 0..LOOKS {
            if self.next.load(Ordering::Acquire) == number {
                break;
            }
            hint::spin_loop();
        }
        let is_early = |_: &mut T| self.next.load(Ordering::Acquire) < number;
        let value = self.changed.wait_while(lock(&self.value), is_early);
        let value = value.unwrap_or_else(PoisonError::into_inner);
        (self.next.load(Ordering::Acquire) == number).then_some(value)
    }

    /// Stops all turns.
    pub(super) fn stop(&self) {
        let value = lock(&self.value);
        self.next.store(STOPPED, Ordering::Release);
        drop(value);
        self.changed.notify_all();
    }

    /// The value, after the last turn.
    pub(super) fn into_inner(self) -> T {
        self.value.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ignores poisoning: a thread that panics stops the turns.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
