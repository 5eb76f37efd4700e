//! Where events go: one emitter for each output format, whose only output is what went wrong.

use std::io::{self, Write};

use crate::{
    conversation::{Conversation, DomainEvent, Sourced},
    emitters::{
        metrics::{LinesRead, Metrics},
        patch::PatchStream,
        transcript::Transcript,
    },
    transduce::{Batch, Emitter},
};

/// Writes events to `writer` in one of the program's formats.
pub(super) struct Sink<W> {
    writer: W,
    shape: Shape,
}

pub(super) enum Shape {
    Transcript(Box<Transcript>),
    Patches(Box<PatchStream>),
    Events,
    Conversation(Box<Conversation>),
    Metrics(Box<Metrics>),
}

impl<W: Write> Sink<W> {
    pub(super) fn new(writer: W, shape: Shape) -> Self {
        Self { writer, shape }
    }

    /// The log has been read to its end, and this was read of it.
    pub(super) fn conclude(&mut self, read: LinesRead) -> io::Result<()> {
        let Shape::Metrics(metrics) = &mut self.shape else { return Ok(()) };
        metrics.add_read(read);
        self.writer.write_all(metrics.render().as_bytes())?;
        self.writer.flush()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    fn write(&mut self, event: &Sourced<DomainEvent>) -> io::Result<()> {
        let Self { writer, shape } = self;
        match shape {
            Shape::Transcript(transcript) => write_lines(writer, transcript.emit(&event.item)),
            Shape::Patches(stream) => match stream.record(event) {
                Some(record) => write_json_line(writer, &record),
                None => Ok(()),
            },
            Shape::Events => write_json_line(writer, event),
            Shape::Conversation(conversation) => {
                conversation.apply(&event.item);
                Ok(())
            }
            Shape::Metrics(metrics) => {
                metrics.count(&event.item);
                Ok(())
            }
        }
    }

    fn write_rest(&mut self) -> io::Result<()> {
        let Self { writer, shape } = self;
        match shape {
            Shape::Transcript(transcript) => write_lines(writer, transcript.finish())?,
            Shape::Patches(stream) => {
                for record in stream.remaining() {
                    write_json_line(writer, &record)?;
                }
            }
            Shape::Events => {}
            Shape::Conversation(conversation) => {
                serde_json::to_writer_pretty(&mut *writer, conversation)?;
                writer.write_all(b"\n")?;
            }
            Shape::Metrics(metrics) => metrics.end_log(),
        }
        writer.flush()
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

fn write_json_line<W: Write>(writer: &mut W, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *writer, value)?;
    writer.write_all(b"\n")
}

fn write_lines<W: Write>(writer: &mut W, lines: Batch<String>) -> io::Result<()> {
    lines.into_iter().try_for_each(|line| writeln!(writer, "{line}"))
}
