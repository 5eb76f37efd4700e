//! [`Processor::relay`]: one log on two threads.

mod ahead;
mod parse;
mod ticket_lock;

use std::{panic, sync::Mutex, thread};

use memchr::memrchr;

pub use self::parse::{HeapSize, ParseAhead};
use self::{
    ahead::Ahead,
    ticket_lock::{TicketLock, lock},
};
use super::{
    Processor,
    decode::{Decode, Reads},
    drive::Drive,
};
use crate::{
    position::Located,
    transduce::{Emitter, Reducer},
};

/// The maximum size of the events of a chunk in memory, in bytes, before they are emitted.
const EVENTS: usize = 4 << 20;

impl<R, S, M, D: Decode> Processor<R, S, M, D> {
    /// Reduces and emits all data of `read`, on this thread and a second one: equivalent to [`push`](Self::push), in
    /// the same order but faster. `read` appends the next bytes to a buffer, nothing at the end. `after` is called
    /// when the events of such a chunk were emitted. `ahead` is the reducer for inputs that were parsed ahead of
    /// their turn.
    ///
    /// A chunk stays on one thread, and only the turn is passed on: the threads take turns in reading bytes, in
    /// reducing and in emitting, but split lines and parse inputs at any time. The cores exchange the state and
    /// little else, because exchanging inputs or events costs more than it saves.
    ///
    /// Ends early if the reducer [is done](Self::is_done).
    ///
    /// # Errors
    /// The error of `read` or `after`. Data read before `read` failed is emitted.
    ///
    /// # Panics
    /// If a reducer, the emitter or a closure panics.
    pub fn relay<A, Event, Out, E>(
        self,
        ahead: &A,
        read: impl FnMut(&mut Vec<u8>) -> Result<(), E> + Send,
        mut each: impl FnMut(Out) + Send,
        mut after: impl FnMut(&mut M) -> Result<(), E> + Send,
    ) -> Result<Self, E>
    where
        R: Reads<D, S, Located<Event>> + Send,
        D: Clone + Send + Sync,
        D::Cursor: Send,
        Event: HeapSize + Send,
        A: ParseAhead<D> + for<'a> Reducer<Located<A::Parsed<'a>>, S, Located<Event>>,
        S: Send,
        M: Emitter<Located<Event>, Out> + Send,
        E: Send,
    {
        let Drive { hashes_lines, .. } = self.drive;
        let (max_line, decoder) = (self.framer.max_line(), self.drive.decoder.clone());
        let (reduces, mut emitter) = self.replace_emitter(());
        let source = Mutex::new(Source { read, chunks: 0, carried: Vec::new(), has_ended: false });
        let reduces = TicketLock::new(reduces);
        let mut has_failed = false;
        let emits = TicketLock::new(|events: &mut Vec<Located<Event>>| {
            for event in events.drain(..).filter(|_| !has_failed) {
                emitter.emit(&event).drain_with(&mut each);
            }
            let emitted = if has_failed { Ok(()) } else { after(&mut emitter) };
            has_failed |= emitted.is_err();
            emitted
        });
        // Emitting first: the thread that is reducing may wait for it.
        let stop = || {
            emits.stop();
            reduces.stop();
            lock(&source).has_ended = true;
        };
        let work = || {
            let (mut chunk, mut events, mut failed) = (Vec::new(), Vec::new(), None);
            loop {
                let Some(number) = lock(&source).next(&mut chunk)? else { return Ok(()) };
                let lines = Ahead::of(ahead, &decoder, &chunk, max_line, hashes_lines);
                let is_done = reduces.take(number, |processor| {
                    let mut size = 0;
                    processor.push_ahead(ahead, lines, |event| {
                        size += event.item.heap_size();
                        events.push(event);
                        if size >= EVENTS {
                            size = 0;
                            let emitted = emits.keep(number, |emit| emit(&mut events));
                            failed = failed.take().or(emitted.and_then(Result::err));
                        }
                    });
                    processor.is_done()
                });
                if is_done == Some(true) {
                    lock(&source).has_ended = true;
                }
                let emitted = emits.take(number, |emit| emit(&mut events));
                if let Some(error) = failed.take().or(emitted.and_then(Result::err)) {
                    stop();
                    return Err(error);
                }
            }
        };
        // After a panic, no thread waits for the turn of the panicked one.
        let work = || {
            panic::catch_unwind(panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
                stop();
                panic::resume_unwind(panic)
            })
        };
        thread::scope(|scope| {
            // If the second thread cannot be started, this thread takes all turns.
            let other = thread::Builder::new().name("relay".to_owned()).spawn_scoped(scope, work);
            let own = work();
            match other.map(thread::ScopedJoinHandle::join) {
                Ok(Err(panic)) => panic::resume_unwind(panic),
                Ok(Ok(other)) => own.and(other),
                Err(_) => own,
            }
        })?;
        Ok(reduces.into_inner().replace_emitter(emitter).0)
    }

    fn replace_emitter<N>(self, emitter: N) -> (Processor<R, S, N, D>, M) {
        let Self { framer, drive } = self;
        let (drive, before) = drive.replace_emitter(emitter);
        let next = Processor { framer, drive };
        (next, before)
    }
}

/// The bytes of a log, in chunks that end with a line if possible.
struct Source<F> {
    read: F,
    chunks: u64,
    /// The beginning of the next chunk.
    carried: Vec<u8>,
    has_ended: bool,
}

impl<E, F: FnMut(&mut Vec<u8>) -> Result<(), E>> Source<F> {
    /// Replaces `chunk` by the next one, and returns its number.
    fn next(&mut self, chunk: &mut Vec<u8>) -> Result<Option<u64>, E> {
        chunk.clear();
        if self.has_ended {
            return Ok(None);
        }
        chunk.append(&mut self.carried);
        let carried = chunk.len();
        // After an error, reading stops on both threads.
        self.has_ended = true;
        (self.read)(chunk)?;
        self.has_ended = chunk.len() == carried;
        let read = chunk.get(carried..).unwrap_or_default();
        if let Some(end) = memrchr(b'\n', read) {
            self.carried.extend(chunk.drain(carried + end + 1..));
        }
        if chunk.is_empty() {
            return Ok(None);
        }
        self.chunks += 1;
        Ok(Some(self.chunks - 1))
    }
}
