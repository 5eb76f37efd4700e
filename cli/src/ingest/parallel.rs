//! Several files are parsed at once; what they say is written in the order of the files.

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

/// How many bytes of logs are read ahead, by all readers together: enough that they need not wait
/// while a transaction is written.
const AHEAD: u64 = 2 * TRANSACTION;

/// Reads every plan with `jobs` threads, of which this one writes. One job reads and writes in turn.
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
    let lead = Lead::default();
    let (senders, receivers): (Vec<_>, Vec<_>) = plans.iter().map(|_| channel()).unzip();
    let files: Vec<_> = plans.iter().zip(receivers).collect();
    let queue = Arc::new(Mutex::new(plans.iter().zip(senders).enumerate()));
    thread::scope(|scope| {
        let _stop = Stop(&lead);
        for _ in 0..(jobs - 1).min(plans.len()) {
            let (queue, lead) = (queue.clone(), &lead);
            scope.spawn(move || read_some(reading, &queue, lead));
        }
        // The readers alone have it, so that a file that nobody will read any more ends.
        drop(queue);
        for (file, (plan, pieces)) in files.into_iter().enumerate() {
            while let Some(piece) = lead.next(file, &pieces) {
                writer.take(plan, piece)?;
            }
        }
        Ok(())
    })
}

/// Reads files until all were begun, or the writer has stopped.
fn read_some<'p>(
    reading: &Reading<'_>,
    queue: &Mutex<impl Iterator<Item = (usize, (&'p Plan, Sender<Piece>))>>,
    lead: &Lead,
) {
    let begin = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    while let Some((file, (plan, pieces))) = begin() {
        read(reading, plan, &mut |piece| {
            lead.take(file, piece.bytes()) && pieces.send(piece).is_ok()
        });
    }
}

/// How far the readers are ahead of the writer. They wait when it is too far.
#[derive(Default)]
struct Lead {
    state: Mutex<LeadState>,
    changed: Condvar,
}

#[derive(Default)]
struct LeadState {
    bytes: u64,
    /// The file that the writer waits for: its reader goes on in any case.
    wanted: Option<usize>,
    stopped: bool,
}

impl Lead {
    /// A reader gets ahead by as many bytes; `false` if it is to stop.
    fn take(&self, file: usize, bytes: u64) -> bool {
        let is_too_far = |state: &mut LeadState| {
            state.bytes >= AHEAD && state.wanted != Some(file) && !state.stopped
        };
        let state = self.changed.wait_while(self.state(), is_too_far);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.bytes += bytes;
        !state.stopped
    }

    /// The next piece of a file for the writer, which thereby catches up with the readers.
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

    fn state(&self) -> MutexGuard<'_, LeadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops the readers when the writer has come to an end, whichever.
struct Stop<'l>(&'l Lead);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.state().stopped = true;
        self.0.changed.notify_all();
    }
}
