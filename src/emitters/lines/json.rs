//! [`JsonLines`]: the outputs of an emitter as lines of JSON.

use std::{
    io::{self, Write},
    marker::PhantomData,
};

use serde::Serialize;

use super::LineWriter;
use crate::{
    conversation::{DomainEvent, Located},
    transduce::{Batch, Emitter, Resume},
};

/// Writes each output of an emitter as a line of JSON.
#[derive(Debug)]
pub struct JsonLines<M, Out, W> {
    emitter: M,
    lines: LineWriter<W>,
    outputs: PhantomData<fn() -> Out>,
}

impl<M, Out, W: Write> JsonLines<M, Out, W>
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

impl<M, Out, W> Emitter<Located<DomainEvent>, io::Error> for JsonLines<M, Out, W>
where
    M: Emitter<Located<DomainEvent>, Out>,
    Out: Serialize,
    W: Write,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        let mut failures = Batch::EMPTY;
        let is_large = is_large(&event.item);
        self.emitter.emit(event).drain_with(|out| {
            let written =
                if is_large { self.lines.large_json(&out) } else { self.lines.json(&out) };
            failures.extend(written.err());
        });
        failures
    }

    fn finish(&mut self) -> Batch<io::Error> {
        let mut failures = Batch::EMPTY;
        self.emitter.finish().drain_with(|out| failures.extend(self.lines.json(&out).err()));
        failures.extend(self.lines.flush().err());
        failures
    }
}

impl<M: Resume, Out, W> Resume for JsonLines<M, Out, W> {
    type State = M::State;

    fn state(&self) -> M::State {
        self.emitter.state()
    }

    fn resume(&mut self, state: M::State) {
        self.emitter.resume(state);
    }
}

/// Whether an event is so large that its output is written directly instead of being buffered.
fn is_large(event: &DomainEvent) -> bool {
    match event {
        DomainEvent::NewEntry { entry }
        | DomainEvent::OpenEntry { entry, .. }
        | DomainEvent::NewToolCall { entry, .. }
        | DomainEvent::UpdateToolCall { entry, .. } => entry.size() > 1 << 20,
        _ => false,
    }
}
