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
    /// The line that is being written.
    line: Vec<u8>,
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
        Self { writer, shape, line: Vec::new() }
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
        let Self { writer, shape, line } = self;
        match shape {
            Shape::Transcript(transcript) => write_lines(writer, transcript.emit(&event.item)),
            Shape::Patches(stream) => match stream.record(event) {
                Some(record) => write_json_line(writer, line, &record),
                None => Ok(()),
            },
            Shape::Events => write_json_line(writer, line, event),
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
        let Self { writer, shape, line } = self;
        match shape {
            Shape::Transcript(transcript) => write_lines(writer, transcript.finish())?,
            Shape::Patches(stream) => {
                for record in stream.remaining() {
                    write_json_line(writer, line, &record)?;
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

fn write_json_line<W: Write>(
    writer: &mut W,
    line: &mut Vec<u8>,
    value: &impl Serialize,
) -> io::Result<()> {
    line.clear();
    json::append(line, value)?;
    line.push(b'\n');
    writer.write_all(line)
}

fn write_lines<W: Write>(writer: &mut W, lines: Batch<String>) -> io::Result<()> {
    lines.into_iter().try_for_each(|line| writeln!(writer, "{line}"))
}
