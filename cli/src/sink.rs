//! Where events go: one emitter for each output format, whose only output is what went wrong.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use foldline::{
    conversation::{Conversation, DomainEvent, Located},
    emitters::{
        metrics::{LinesRead, Metrics},
        patch::{PatchStream, PatchStreamState},
        transcript::Transcript,
    },
    json,
    transduce::{Batch, Emitter, Resume},
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

/// What a replay remembers of its output.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SinkState {
    /// How many lines were malformed.
    pub(super) malformed: u64,
    pub(super) shape: ShapeState,
}

/// What a shape remembers, if it can go on later.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ShapeState {
    Patches(Box<PatchStreamState>),
    Events,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(writer: W, shape: Shape) -> Self {
        Self { writer, shape, pending: Vec::with_capacity(2 * FULL) }
    }

    /// Where it writes.
    pub(super) fn writer_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// What it remembers, if it can go on from there later.
    pub(super) fn state(&self) -> Option<ShapeState> {
        match &self.shape {
            Shape::Patches(stream) => Some(ShapeState::Patches(Box::new(stream.state()))),
            Shape::Events => Some(ShapeState::Events),
            _ => None,
        }
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
        // One long line is no reason to hold its memory for all that follow.
        self.pending.shrink_to(2 * FULL);
        written
    }

    fn write(&mut self, event: &Located<DomainEvent>) -> io::Result<()> {
        let Self { shape, pending, .. } = self;
        match shape {
            Shape::Transcript(transcript) => push_lines(pending, transcript.emit(&event.item)),
            Shape::Patches(stream) => {
                if let Some(record) = stream.record(event) {
                    if is_large(&event.item) {
                        return self.write_large(&record);
                    }
                    push_json_line(pending, &record)?;
                }
            }
            Shape::Events => {
                if is_large(&event.item) {
                    return self.write_large(event);
                }
                push_json_line(pending, event)?;
            }
            Shape::Conversation(conversation) => conversation.apply(&event.item),
            Shape::Metrics(metrics) => metrics.count(&event.item),
        }
        if self.pending.len() < FULL { Ok(()) } else { self.write_out() }
    }

    /// Writes a line as it is spelt out, so that a large one is not in memory once more.
    fn write_large(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.write_out()?;
        let mut writer = io::BufWriter::with_capacity(FULL, &mut self.writer);
        serde_json::to_writer(&mut writer, value)?;
        writer.write_all(b"\n")?;
        writer.flush()
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

impl<W: Write> Emitter<Located<DomainEvent>, io::Error> for Sink<W> {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        Batch::from(self.write(event).err())
    }

    fn finish(&mut self) -> Batch<io::Error> {
        Batch::from(self.write_rest().err())
    }
}

/// Whether an event says so much that it is not to be copied.
fn is_large(event: &DomainEvent) -> bool {
    match event {
        DomainEvent::NewEntry { entry }
        | DomainEvent::OpenEntry { entry, .. }
        | DomainEvent::NewToolCall { entry, .. }
        | DomainEvent::UpdateToolCall { entry, .. } => entry.size() > 1 << 20,
        _ => false,
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
