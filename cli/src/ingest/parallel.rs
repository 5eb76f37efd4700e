//! Parses several files in parallel, and writes their commits in the order of the files.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use super::{
    plan::Plan,
    read::{Piece, Reading, read},
    write::{TRANSACTION, Writer},
};
use crate::error::Error;

/// The bytes of logs that all readers together may read ahead: enough that they do not wait while a
/// transaction is written.
const AHEAD: u64 = 2 * TRANSACTION;

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
            while let Some(piece) = read_ahead.next(file, &pieces) {
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
            read_ahead.take(file, piece.bytes()) && pieces.send(piece).is_ok()
        });
    }
}

/// How far the readers are ahead of the writer. They wait at the limit.
#[derive(Default)]
struct ReadAhead {
    state: Mutex<ReadAheadState>,
    changed: Condvar,
}

#[derive(Default)]
struct ReadAheadState {
    bytes: u64,
    /// The file that the writer waits for: its reader never waits.
    wanted: Option<usize>,
    stopped: bool,
}

impl ReadAhead {
    /// Reserves bytes for a reader, and waits at the limit; `false` if the reader must stop.
    fn take(&self, file: usize, bytes: u64) -> bool {
        let is_too_far = |state: &mut ReadAheadState| {
            state.bytes >= AHEAD && state.wanted != Some(file) && !state.stopped
        };
        let state = self.changed.wait_while(self.state(), is_too_far);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.bytes += bytes;
        !state.stopped
    }

    /// The next piece of a file for the writer. Releases its bytes.
    fn next(&self, file: usize, pieces: &Receiver<Piece>) -> Option<Piece> {
        let piece = pieces.try_recv().ok().or_else(|| {
            self.state().wanted = Some(file);
            self.changed.notify_all();
            pieces.recv().ok()
        })?;
        let mut state = self.state();
        state.bytes = state.bytes.saturating_sub(piece.bytes());
        state.wanted = None;
        self.changed.notify_all();
        Some(piece)
    }

    fn state(&self) -> MutexGuard<'_, ReadAheadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops the readers when the writer ends, also by an error or a panic.
struct Stop<'l>(&'l ReadAhead);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.state().stopped = true;
        self.0.changed.notify_all();
    }
}
