//! [`Aside`]: a sink on a thread of its own.

use std::{
    io,
    sync::mpsc::{Receiver, channel},
};

use foldline::{
    conversation::{DomainEvent, Json, Located},
    processor::{Background, Counts},
    transduce::{Batch, Emitter},
};

use super::Sink;

/// An event from this size on, in bytes, is waited for, so that memory holds one of them at a time.
const LARGE: usize = 64 << 10;

/// Runs a sink on a thread of its own: the log is read and reduced while the sink formats.
///
/// It has no memory. A sink that a checkpoint keeps runs on the thread of the reducer, so that both are at the same
/// event.
pub(super) struct Aside {
    /// `None` once the log has ended.
    background: Option<Background<Message, Served>>,
    failures: Receiver<io::Error>,
}

/// What the thread is told.
#[derive(Clone)]
enum Message {
    Event(Located<DomainEvent>),
    Flush,
}

/// The sink on its thread. After a failure it gets nothing more.
struct Served {
    sink: Box<dyn Sink>,
    has_failed: bool,
}

impl Served {
    fn note(&mut self, failures: Batch<io::Error>) -> Batch<io::Error> {
        self.has_failed |= !failures.is_empty();
        failures
    }
}

impl Emitter<Message, io::Error> for Served {
    fn emit(&mut self, message: &Message) -> Batch<io::Error> {
        let failures = match message {
            _ if self.has_failed => Batch::EMPTY,
            Message::Event(event) => self.sink.emit(event),
            Message::Flush => self.sink.flush().err().into_iter().collect(),
        };
        self.note(failures)
    }

    fn finish(&mut self) -> Batch<io::Error> {
        let failures = if self.has_failed { Batch::EMPTY } else { self.sink.finish() };
        self.note(failures)
    }
}

impl Aside {
    /// Starts the thread.
    pub(super) fn new(sink: Box<dyn Sink>) -> io::Result<Self> {
        let (failed, failures) = channel();
        let served = Served { sink, has_failed: false };
        // Nobody listens any more once another failure has ended the run.
        let background = Background::new(served, move |error| drop(failed.send(error)))?;
        Ok(Self { background: Some(background), failures })
    }

    fn failures(&self) -> Batch<io::Error> {
        self.failures.try_iter().collect()
    }
}

impl Emitter<Located<DomainEvent>, io::Error> for Aside {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        if let Some(background) = &mut self.background {
            background.push(Message::Event(event.clone()));
            if event.item.size() >= LARGE {
                background.settle();
            }
        }
        self.failures()
    }

    fn finish(&mut self) -> Batch<io::Error> {
        if let Some(background) = &mut self.background {
            // What it gives goes to the closure.
            let _: Batch<io::Error> = background.finish();
        }
        self.failures()
    }
}

impl Sink for Aside {
    fn flush(&mut self) -> io::Result<()> {
        if let Some(background) = &mut self.background {
            background.push(Message::Flush);
            background.flush();
        }
        self.failures.try_iter().next().map_or(Ok(()), Err)
    }

    fn conclude(&mut self, read: Counts) -> io::Result<()> {
        let Some(background) = self.background.take() else { return Ok(()) };
        let mut served = background.join().map_err(io::Error::other)?;
        self.failures.try_iter().next().map_or(Ok(()), Err)?;
        served.sink.conclude(read)
    }

    fn state(&self) -> Option<Json> {
        None
    }

    fn resume(&mut self, _: &Json) -> serde_json::Result<()> {
        Ok(())
    }
}
