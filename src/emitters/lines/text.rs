//! [`TextLines`]: the outputs of an emitter as lines of text.

use std::{
    io::{self, Write},
    marker::PhantomData,
};

use super::LineWriter;
use crate::{
    conversation::{DomainEvent, Located},
    transduce::{Batch, Emitter, Resume},
};

/// Writes each output of an emitter as a line of text, unchanged: the emitter has to neutralise control
/// characters from a log.
#[derive(Debug)]
pub struct TextLines<M, Out, W> {
    emitter: M,
    lines: LineWriter<W>,
    outputs: PhantomData<fn() -> Out>,
}

impl<M, Out, W: Write> TextLines<M, Out, W>
where
    M: Emitter<Located<DomainEvent>, Out>,
{
    /// Writes the outputs of `emitter` to `writer`.
    pub fn new(emitter: M, writer: W) -> Self {
        Self { emitter, lines: LineWriter::new(writer), outputs: PhantomData }
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// The writer failed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.lines.flush()
    }

    /// The writer.
    pub fn get_ref(&self) -> &W {
        self.lines.get_ref()
    }
}

impl<M, Out, W> Emitter<Located<DomainEvent>, io::Error> for TextLines<M, Out, W>
where
    M: Emitter<Located<DomainEvent>, Out>,
    Out: AsRef<str>,
    W: Write,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        let mut failures = Batch::EMPTY;
        let outputs = self.emitter.emit(event);
        outputs.drain_with(|out| failures.extend(self.lines.text(out).err()));
        failures
    }

    fn finish(&mut self) -> Batch<io::Error> {
        let mut failures = Batch::EMPTY;
        self.emitter.finish().drain_with(|out| failures.extend(self.lines.text(out).err()));
        failures.extend(self.lines.flush().err());
        failures
    }
}

impl<M: Resume, Out, W> Resume for TextLines<M, Out, W> {
    type State = M::State;

    fn state(&self) -> M::State {
        self.emitter.state()
    }

    fn resume(&mut self, state: M::State) {
        self.emitter.resume(state);
    }
}
