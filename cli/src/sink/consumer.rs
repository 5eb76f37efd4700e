//! [`Consumer`]: runs an emitter of another crate as a sink.

use std::{fmt::Display, io, marker::PhantomData};

use foldline::{
    conversation::{DomainEvent, Json, Located},
    emitters::{lines::LineWriter, terminal::neutralise_line},
    transduce::{Batch, Emitter, Resume},
};
use serde::{Serialize, de::DeserializeOwned};

use super::{Sink, Writer};

/// Writes each output of an emitter as a line; an `Err` is a failure of the sink.
pub(super) struct Consumer<M, Line, E> {
    emitter: M,
    lines: LineWriter<Writer>,
    outputs: PhantomData<fn() -> Result<Line, E>>,
}

impl<M, Line, E> Consumer<M, Line, E> {
    pub(super) fn new(emitter: M, writer: Writer) -> Self {
        Self { emitter, lines: LineWriter::new(writer), outputs: PhantomData }
    }
}

impl<M, Line: Display, E: Display> Consumer<M, Line, E> {
    fn write(&mut self, outputs: Batch<Result<Line, E>>) -> Batch<io::Error> {
        let mut failures = Batch::EMPTY;
        outputs.drain_with(|output| {
            failures.extend(match output {
                // A consumer may repeat what a log says, which must not steer a terminal.
                Ok(line) => self.lines.text(neutralise_line(&line.to_string())).err(),
                Err(error) => Some(io::Error::other(error.to_string())),
            });
        });
        failures
    }
}

impl<M, Line, E> Emitter<Located<DomainEvent>, io::Error> for Consumer<M, Line, E>
where
    M: Emitter<DomainEvent, Result<Line, E>>,
    Line: Display,
    E: Display,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        let outputs = self.emitter.emit(&event.item);
        self.write(outputs)
    }

    fn finish(&mut self) -> Batch<io::Error> {
        let outputs = self.emitter.finish();
        let mut failures = self.write(outputs);
        failures.extend(self.lines.flush().err());
        failures
    }
}

impl<M, Line, E> Sink for Consumer<M, Line, E>
where
    M: Emitter<DomainEvent, Result<Line, E>> + Resume + Send,
    M::State: Serialize + DeserializeOwned,
    Line: Display,
    E: Display,
{
    fn flush(&mut self) -> io::Result<()> {
        self.lines.flush()
    }

    fn state(&self) -> Option<Json> {
        Json::of(&self.emitter.state()).ok()
    }

    fn resume(&mut self, state: &Json) -> serde_json::Result<()> {
        self.emitter.resume(serde_json::from_str(state.get())?);
        Ok(())
    }
}
