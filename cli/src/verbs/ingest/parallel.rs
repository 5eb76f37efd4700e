//! Parses several files in parallel, and writes their commits in the order of the files.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel},
    },
    thread,
    time::Duration,
};

use super::{
    plan::Plan,
    read::{Piece, Reading, read},
    write::Writer,
};
use crate::error::Error;

/// The approximate memory limit of pieces that wait for the writer, in bytes: enough that readers do not wait
/// while a transaction is written.
const AHEAD: usize = 6 << 20;

/// The approximate memory limit of segments that the readers build, in bytes.
const SEGMENTS: usize = 9 << 20;

/// The time that the writer waits for a reader before it releases the write lock.
const SOON: Duration = Duration::from_millis(20);

/// The memory limit of a segment. Longer segments are not faster.
const SEGMENT: usize = 3 << 20;

/// The memory limit of a segment with this number of jobs, in bytes.
pub(super) fn segment_size(jobs: usize) -> usize {
    (SEGMENTS / jobs.saturating_sub(1).max(1)).min(SEGMENT)
}

/// Runs every plan with `jobs` threads, of which this one writes. With one job, it reads and writes in turn.
pub(super) fn read_all(
    reading: &Reading<'_>,
    plans: &[Plan],
    jobs: usize,
    writer: &mut Writer,
) -> Result<(), Error> {
    if jobs <= 1 || plans.is_empty() {
        for plan in plans {
            let mut result = Ok(());
            read(reading, plan, &mut |piece| {
                result = writer.take(plan, piece);
                result.is_ok()
            });
            result?;
        }
        return Ok(());
    }
    let read_ahead = ReadAhead::default();
    let (senders, receivers): (Vec<_>, Vec<_>) = plans.iter().map(|_| channel()).unzip();
    let files: Vec<_> = plans.iter().zip(receivers).collect();
    let queue = Arc::new(Mutex::new(plans.iter().zip(senders).enumerate()));
    thread::scope(|scope| {
        let _stop = Stop(&read_ahead);
        for _ in 0..(jobs - 1).min(plans.len()) {
            let (queue, read_ahead) = (queue.clone(), &read_ahead);
            scope.spawn(move || read_some(reading, &queue, read_ahead));
        }
        // Only the readers keep a sender, so that the queue of a file closes when they stop.
        drop(queue);
        for (file, (plan, pieces)) in files.into_iter().enumerate() {
            while let Some(piece) = read_ahead.next(file, &pieces, || writer.commit_ahead())? {
                writer.take(plan, piece)?;
            }
        }
        Ok(())
    })
}

/// Reads files until all are taken, or the writer has stopped.
fn read_some<'p>(
    reading: &Reading<'_>,
    queue: &Mutex<impl Iterator<Item = (usize, (&'p Plan, Sender<Piece>))>>,
    read_ahead: &ReadAhead,
) {
    let begin = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    while let Some((file, (plan, pieces))) = begin() {
        read(reading, plan, &mut |piece| {
            let may_go_on = match piece {
                Piece::LongLine => read_ahead.wait_for_turn(file),
                _ => read_ahead.take(file, piece.size()),
            };
            may_go_on && pieces.send(piece).is_ok()
        });
    }
}

/// The memory of pieces that wait for the writer. Readers wait at the limit.
#[derive(Default)]
struct ReadAhead {
    state: Mutex<ReadAheadState>,
    changed: Condvar,
}

#[derive(Default)]
struct ReadAheadState {
    /// The approximate memory size of the pieces.
    size: usize,
    /// The file that the writer waits for: its reader never waits.
    wanted: Option<usize>,
    stopped: bool,
}

impl ReadAhead {
    /// Reserves memory for a piece, and waits at the limit; `false` if the reader must stop.
    fn take(&self, file: usize, size: usize) -> bool {
        let mut state = self.wait_while(|state| state.size >= AHEAD && state.wanted != Some(file));
        state.size += size;
        !state.stopped
    }

    /// Waits until the writer waits for this file; `false` if the reader must stop.
    fn wait_for_turn(&self, file: usize) -> bool {
        !self.wait_while(|state| state.wanted != Some(file)).stopped
    }

    fn wait_while(
        &self,
        mut must_wait: impl FnMut(&ReadAheadState) -> bool,
    ) -> MutexGuard<'_, ReadAheadState> {
        let state =
            self.changed.wait_while(self.state(), |state| !state.stopped && must_wait(state));
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece of a file for the writer. Releases its memory. `before_waiting` is called before a long
    /// wait.
    fn next(
        &self,
        file: usize,
        pieces: &Receiver<Piece>,
        before_waiting: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Option<Piece>, Error> {
        let piece = match pieces.try_recv() {
            Err(TryRecvError::Empty) => {
                self.state().wanted = Some(file);
                self.changed.notify_all();
                match pieces.recv_timeout(SOON) {
                    Err(RecvTimeoutError::Timeout) => {
                        before_waiting()?;
                        pieces.recv().ok()
                    }
                    piece => piece.ok(),
                }
            }
            piece => piece.ok(),
        };
        let Some(piece) = piece else { return Ok(None) };
        let mut state = self.state();
        state.size = state.size.saturating_sub(piece.size());
        state.wanted = None;
        self.changed.notify_all();
        Ok(Some(piece))
    }

    fn state(&self) -> MutexGuard<'_, ReadAheadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops the readers when the writer ends, even by an error or a panic.
struct Stop<'l>(&'l ReadAhead);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.state().stopped = true;
        self.0.changed.notify_all();
    }
}
