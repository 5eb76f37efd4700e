//! Where events go: one emitter for each output format, whose only output is what went wrong.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    conversation::{Conversation, DomainEvent, Sourced},
    emitters::{
        metrics::{LinesRead, Metrics},
        patch::PatchStream,
        transcript::Transcript,
    },
    json,
    transduce::{Batch, Emitter},
};

/// Writes events to `writer` in one of the program's formats.
pub(super) struct Sink<W> {
    writer: W,
    shape: Shape,
    /// What is to be written: straight into one buffer, which goes out when it is full or flushed.
    pending: Vec<u8>,
}

/// How much is written at once.
const FULL: usize = 64 << 10;

pub(super) enum Shape {
    Transcript(Box<Transcript>),
    Patches(Box<PatchStream>),
    Events,
    Conversation(Box<Conversation>),
    Metrics(Box<Metrics>),
}

impl<W: Write> Sink<W> {
    pub(super) fn new(writer: W, shape: Shape) -> Self {
        Self { writer, shape, pending: Vec::with_capacity(2 * FULL) }
    }

    /// The log has been read to its end, and this was read of it.
    pub(super) fn conclude(&mut self, read: LinesRead) -> io::Result<()> {
        let Shape::Metrics(metrics) = &mut self.shape else { return Ok(()) };
        metrics.add_read(read);
        self.pending.extend_from_slice(metrics.render().as_bytes());
        self.flush()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.writer.flush()
    }

    fn write_out(&mut self) -> io::Result<()> {
        // Whatever becomes of it, it is not written twice.
        let written = self.writer.write_all(&self.pending);
        self.pending.clear();
        written
    }

    fn write(&mut self, event: &Sourced<DomainEvent>) -> io::Result<()> {
        let Self { shape, pending, .. } = self;
        match shape {
            Shape::Transcript(transcript) => push_lines(pending, transcript.emit(&event.item)),
            Shape::Patches(stream) => {
                if let Some(record) = stream.record(event) {
                    push_json_line(pending, &record)?;
                }
            }
            Shape::Events => push_json_line(pending, event)?,
            Shape::Conversation(conversation) => conversation.apply(&event.item),
            Shape::Metrics(metrics) => metrics.count(&event.item),
        }
        if self.pending.len() < FULL { Ok(()) } else { self.write_out() }
    }

    fn write_rest(&mut self) -> io::Result<()> {
        let Self { shape, pending, .. } = self;
        match shape {
            Shape::Transcript(transcript) => push_lines(pending, transcript.finish()),
            Shape::Patches(stream) => {
                for record in stream.remaining() {
                    push_json_line(pending, &record)?;
                }
            }
            Shape::Events => {}
            Shape::Conversation(conversation) => {
                serde_json::to_writer_pretty(&mut *pending, conversation)?;
                pending.push(b'\n');
            }
            Shape::Metrics(metrics) => metrics.end_log(),
        }
        self.flush()
    }
}

impl<W: Write> Emitter<Sourced<DomainEvent>, io::Error> for Sink<W> {
    fn emit(&mut self, event: &Sourced<DomainEvent>) -> Batch<io::Error> {
        Batch::from(self.write(event).err())
    }

    fn finish(&mut self) -> Batch<io::Error> {
        Batch::from(self.write_rest().err())
    }
}

fn push_json_line(pending: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    json::append(pending, value)?;
    pending.push(b'\n');
    Ok(())
}

fn push_lines(pending: &mut Vec<u8>, lines: Batch<String>) {
    for line in lines {
        pending.extend_from_slice(line.as_bytes());
        pending.push(b'\n');
    }
}
