//! [`Background`]: runs an emitter on its own thread.

use std::{
    fmt, io, mem,
    sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    thread::{self, JoinHandle},
};

use crate::transduce::{Batch, Emitter, Fault};

/// Events per batch: large enough that the threads synchronise rarely, small enough for the cache.
const EVENTS: usize = 128;

/// The capacity of the queue, in batches. When it is full, `emit` blocks, so that memory is bounded.
const QUEUED_BATCHES: usize = 2;

/// Runs an emitter on its own thread, some events behind the others.
///
/// A slow consumer, such as one that hashes, compresses or formats, delays the patches when both run on
/// one thread. Here it receives clones of the same events in the same order; its outputs go to a closure
/// on its own thread. In the fan-out it is an emitter without outputs, such as the side of a
/// [`Tee`](crate::transduce::Tee). Clones of domain events are cheap: their entries are shared.
///
/// The queue is bounded to some hundreds of events; when it is full, `emit` blocks. Events are sent in
/// batches: [`flush`](Self::flush) sends an incomplete one, for a log that pauses. [`join`](Self::join)
/// waits until every event was processed, and returns the emitter; dropping it waits as well.
///
/// ```
/// use std::sync::mpsc::channel;
///
/// use foldline::{
///     processor::Background,
///     transduce::{Batch, Tee, Transducer, emit_fn, reduce_fn},
/// };
///
/// let (lines, written) = channel();
/// let slow = emit_fn(|n: &u32| Batch::one(format!("{n} squared is {}", n * n)));
/// let side = Background::new(slow, move |line| drop(lines.send(line)))?;
///
/// let main = emit_fn(|n: &u32| Batch::one(n + 1));
/// let same = reduce_fn(|| (), |(), n: u32| ((), Batch::one(n)));
/// let mut shell = Transducer::new(same, Tee { main, side });
/// assert_eq!(shell.step(3).as_slice(), [4]);
///
/// let (_, Tee { side, .. }, _) = shell.finish();
/// side.join()?;
/// assert_eq!(written.try_iter().collect::<Vec<_>>(), ["3 squared is 9"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Background<Event, M> {
    waiting: Vec<Event>,
    /// `None` only once the input has ended.
    queue: Option<SyncSender<Message<Event>>>,
    /// Batches come back to be freed by the thread that allocated them, which is much faster.
    recycled: Receiver<Vec<Event>>,
    thread: Option<JoinHandle<M>>,
}

enum Message<Event> {
    Batch(Vec<Event>),
    Finish,
}

impl<Event, M> Background<Event, M>
where
    Event: Send + 'static,
    M: Send + 'static,
{
    /// Starts the thread, which calls `take` with every output.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn new<Out>(emitter: M, take: impl FnMut(Out) + Send + 'static) -> io::Result<Self>
    where
        M: Emitter<Event, Out>,
    {
        let (queue, messages) = sync_channel(QUEUED_BATCHES);
        let (recycle, recycled) = channel();
        let thread = thread::Builder::new()
            .name("background".to_owned())
            .spawn(move || run(emitter, &messages, &recycle, take))?;
        let (waiting, queue, thread) = (Vec::new(), Some(queue), Some(thread));
        Ok(Self { waiting, queue, recycled, thread })
    }
}

fn run<Event, M, Out>(
    mut emitter: M,
    messages: &Receiver<Message<Event>>,
    recycle: &Sender<Vec<Event>>,
    mut take: impl FnMut(Out),
) -> M
where
    M: Emitter<Event, Out>,
{
    for message in messages {
        match message {
            Message::Batch(events) => {
                events.iter().for_each(|event| emitter.emit(event).drain_with(&mut take));
                // Fails when the other side is gone: then they are freed here.
                let _ = recycle.send(events);
            }
            Message::Finish => emitter.finish().drain_with(&mut take),
        }
    }
    emitter
}

impl<Event, M> Background<Event, M> {
    /// Sends the events of an incomplete batch, without waiting until they are processed.
    pub fn flush(&mut self) {
        if !self.waiting.is_empty() {
            let mut next = Vec::new();
            for recycled in self.recycled.try_iter() {
                next = recycled;
                next.clear();
            }
            let events = mem::replace(&mut self.waiting, next);
            self.send(Message::Batch(events));
        }
    }

    /// Sends an event by value.
    pub fn push(&mut self, event: Event) {
        self.waiting.push(event);
        if self.waiting.len() >= EVENTS {
            self.flush();
        }
    }

    /// Waits until every event was processed, and returns the emitter.
    ///
    /// # Errors
    ///
    /// The emitter or the closure `take` panicked; it received no event after that. Wrap the emitter in
    /// [`guard`](crate::transduce::guard) to get the panic as an output at once.
    pub fn join(mut self) -> Result<M, Fault> {
        self.flush();
        self.queue = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(ended) => ended.map_err(|panic| Fault::of(&*panic)),
            // Only `join` and `drop` take the thread, and either ends this.
            None => Err(Fault::Skipped),
        }
    }

    fn send(&self, message: Message<Event>) {
        if let Some(queue) = &self.queue {
            // The thread ends early only by a panic, which `join` reports.
            let _ = queue.send(message);
        }
    }
}

/// The outputs go to the closure on the emitter's thread, not here.
impl<Event: Clone, M, Out> Emitter<Event, Out> for Background<Event, M> {
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        self.push(event.clone());
        Batch::EMPTY
    }

    /// Does not wait for the thread either.
    fn finish(&mut self) -> Batch<Out> {
        self.flush();
        self.send(Message::Finish);
        Batch::EMPTY
    }
}

impl<Event, M> Drop for Background<Event, M> {
    fn drop(&mut self) {
        self.flush();
        self.queue = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl<Event, M> fmt::Debug for Background<Event, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transduce::{emit_fn, guard};

    /// Counts, and says at the end how far it came.
    #[derive(Debug, Default)]
    struct Counter(usize);

    impl Emitter<usize, String> for Counter {
        fn emit(&mut self, event: &usize) -> Batch<String> {
            self.0 += 1;
            Batch::one(format!("{}: {event}", self.0))
        }

        fn finish(&mut self) -> Batch<String> {
            Batch::one(format!("{} in all", self.0))
        }
    }

    /// A counter in the background, and what it gives.
    fn counting() -> (Background<usize, Counter>, Receiver<String>) {
        let (taken, outputs) = channel();
        let take = move |out: String| taken.send(out).unwrap();
        (Background::new(Counter::default(), take).unwrap(), outputs)
    }

    fn emit<M: Emitter<usize, ()>>(emitter: &mut M, events: impl IntoIterator<Item = usize>) {
        events.into_iter().for_each(|event| drop(emitter.emit(&event)));
    }

    proptest! {
        #[test]
        fn it_gives_what_it_would_give_alone(
            events in prop::collection::vec(any::<usize>(), 0..2000), flush_at in any::<usize>(),
        ) {
            let mut alone = Counter::default();
            let mut expected: Vec<String> = Vec::new();
            events.iter().for_each(|event| expected.extend(alone.emit(event)));
            expected.extend(alone.finish());

            let (mut background, outputs) = counting();
            for (number, event) in events.iter().enumerate() {
                emit(&mut background, [*event]);
                if number == flush_at % 2000 {
                    background.flush();
                }
            }
            drop(Emitter::<usize, ()>::finish(&mut background));
            prop_assert_eq!(background.join().unwrap().0, events.len());
            prop_assert_eq!(outputs.iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn what_is_flushed_arrives_without_more() {
        let (mut background, outputs) = counting();
        emit(&mut background, [7]);
        background.flush();
        assert_eq!(outputs.recv().unwrap(), "1: 7");
    }

    #[test]
    fn nothing_is_lost_when_it_is_dropped() {
        let (mut background, outputs) = counting();
        emit(&mut background, 0..1000);
        drop(background);
        assert_eq!(outputs.try_iter().count(), 1000);
    }

    #[test]
    fn a_panic_is_told_and_holds_nobody_up() {
        let fragile = || emit_fn(|event: &usize| Batch::one(100 / (*event - 5)));
        let mut background = Background::new(fragile(), |_: usize| {}).unwrap();
        emit(&mut background, 5..100_000);
        let Err(Fault::Panicked(message)) = background.join().map(|_| ()) else {
            unreachable!("it divides by zero")
        };
        assert!(message.contains("divide by zero"));

        let (taken, outputs) = channel();
        let mut background =
            Background::new(guard(fragile()), move |out| taken.send(out).unwrap()).unwrap();
        emit(&mut background, [5, 6]);
        assert!(background.join().unwrap().is_lost());
        let outputs: Vec<Result<usize, Fault>> = outputs.iter().collect();
        assert!(matches!(&outputs[..], [Err(Fault::Panicked(_)), Err(Fault::Skipped)]));
    }
}
