//! Several files are parsed at once; what they say is written in the order of the files.

use std::{
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use super::{
    plan::Plan,
    read::{Piece, read},
    write::Writer,
};
use crate::cli::error::Error;

/// How many files are read ahead of the one that is being written, for each reader.
const FILES_AHEAD: usize = 4;

/// How many pieces are read ahead of each file.
const PIECES_AHEAD: usize = 2;

/// Reads every plan with `jobs` threads, of which this one writes. One job reads and writes in turn.
pub(super) fn read_all(plans: &[Plan], jobs: usize, writer: &mut Writer) -> Result<(), Error> {
    if jobs <= 1 || plans.is_empty() {
        for plan in plans {
            let mut result = Ok(());
            read(plan, &mut |piece| {
                result = writer.take(plan, piece);
                result.is_ok()
            });
            result?;
        }
        return Ok(());
    }
    let readers = (jobs - 1).min(plans.len());
    let (begun, files) = sync_channel(readers * FILES_AHEAD);
    let queue = Mutex::new(Queue { plans: plans.iter(), begun: Some(begun) });
    thread::scope(|scope| {
        for _ in 0..readers {
            scope
                .spawn(|| while begin(&queue).is_some_and(|(plan, pieces)| send(plan, &pieces)) {});
        }
        // Dropped on an error, which stops the readers.
        let files = files;
        for (plan, pieces) in &files {
            for piece in pieces {
                writer.take(plan, piece)?;
            }
        }
        Ok(())
    })
}

/// The files that nobody has begun, and where those that somebody begins are announced, in order.
struct Queue<'p> {
    plans: std::slice::Iter<'p, Plan>,
    begun: Option<SyncSender<(&'p Plan, Receiver<Piece>)>>,
}

/// Begins the next file. Under one lock, so that files are announced in their order.
fn begin<'p>(queue: &Mutex<Queue<'p>>) -> Option<(&'p Plan, SyncSender<Piece>)> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(plan) = queue.plans.next() else {
        queue.begun = None;
        return None;
    };
    let (pieces, receiver) = sync_channel(PIECES_AHEAD);
    queue.begun.as_ref()?.send((plan, receiver)).ok()?;
    Some((plan, pieces))
}

/// Whether the writer still listens.
fn send(plan: &Plan, pieces: &SyncSender<Piece>) -> bool {
    let mut listens = true;
    read(plan, &mut |piece| {
        listens = pieces.send(piece).is_ok();
        listens
    });
    listens
}
