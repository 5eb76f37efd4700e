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

    /// The first failure that was not told yet.
    fn failure(&self) -> io::Result<()> {
        self.failures.try_iter().next().map_or(Ok(()), Err)
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
        self.failure()
    }

    fn conclude(&mut self, read: Counts) -> io::Result<()> {
        let Some(background) = self.background.take() else { return Ok(()) };
        let mut served = background.join().map_err(io::Error::other)?;
        self.failure()?;
        served.sink.conclude(read)
    }

    fn state(&self) -> Option<Json> {
        None
    }

    fn resume(&mut self, _: &Json) -> serde_json::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use foldline::conversation::{NormalizedEntry, NormalizedEntryType, Position};

    use super::*;

    /// Fails or panics at the event of this line.
    struct Falls {
        fails_at: u64,
        panics_at: u64,
    }

    impl Emitter<Located<DomainEvent>, io::Error> for Falls {
        fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
            let line = event.position.line;
            assert!(line < self.panics_at, "it fell");
            match line >= self.fails_at {
                true => Batch::one(io::Error::other(format!("full at {line}"))),
                false => Batch::EMPTY,
            }
        }
    }

    impl Sink for Falls {
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn state(&self) -> Option<Json> {
            None
        }

        fn resume(&mut self, _: &Json) -> serde_json::Result<()> {
            Ok(())
        }
    }

    /// Every failure that is told of a log of a thousand events, the last one at its end.
    fn told(fails_at: u64, panics_at: u64) -> Vec<String> {
        let mut aside = Aside::new(Box::new(Falls { fails_at, panics_at })).unwrap();
        let mut told = Vec::new();
        for line in 1..=1000 {
            let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "hello");
            let event = Located::new(Position { line, offset: 0 }, DomainEvent::entry(entry));
            told.extend(aside.emit(&event));
        }
        told.extend(aside.finish());
        told.extend(aside.conclude(Counts::default()).err());
        told.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_failure_is_told_once_and_a_panic_at_the_end() {
        assert_eq!(told(2000, 2000), [""; 0]);
        assert_eq!(told(500, 2000), ["full at 500"]);
        assert_eq!(told(2000, 500), ["it panicked: it fell"]);
    }
}
