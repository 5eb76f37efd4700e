//! The built-in sinks.

use std::io;

use foldline::{
    conversation::{ByItem, Conversation, DomainEvent, Json, Located, by_item},
    emitters::{
        lines::{JsonLines, LineWriter, TextLines},
        metrics::Metrics,
        patch::{PatchRecord, PatchStream, PatchStreamState},
        transcript::Transcript,
    },
    processor::Counts,
    transduce::{Batch, Emitter, Resume},
};

use super::{Sink, SinkOptions, Writer};

/// A sink, before it is one of the program's.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) resumable: bool,
    pub(super) make: fn(SinkOptions, Writer) -> Box<dyn Sink>,
}

pub(super) const KINDS: [Kind; 5] = [
    Kind { name: "transcript", about: "For people", resumable: false, make: transcript },
    Kind {
        name: "patches",
        about: "One JSON Patch a line, with its number and the position of its cause",
        resumable: true,
        make: patches,
    },
    Kind {
        name: "events",
        about: "One domain event a line, with its position",
        resumable: true,
        make: events,
    },
    Kind {
        name: "conversation",
        about: "The conversation as one JSON document",
        resumable: false,
        make: conversation,
    },
    Kind {
        name: "metrics",
        about: "Counters in the text format of Prometheus, at the end",
        resumable: false,
        make: metrics,
    },
];

fn transcript(options: SinkOptions, writer: Writer) -> Box<dyn Sink> {
    Box::new(TextLines::new(by_item(Transcript::new(options.style)), writer))
}

fn patches(_: SinkOptions, writer: Writer) -> Box<dyn Sink> {
    Box::new(JsonLines::new(PatchStream::default(), writer))
}

fn events(_: SinkOptions, writer: Writer) -> Box<dyn Sink> {
    Box::new(JsonLines::new(AsTheyAre, writer))
}

fn conversation(_: SinkOptions, writer: Writer) -> Box<dyn Sink> {
    Box::new(AtEnd { fold: Conversation::default(), lines: LineWriter::new(writer) })
}

fn metrics(_: SinkOptions, writer: Writer) -> Box<dyn Sink> {
    Box::new(AtEnd { fold: Metrics::default(), lines: LineWriter::new(writer) })
}

/// Emits every event unchanged.
struct AsTheyAre;

impl Emitter<Located<DomainEvent>, Located<DomainEvent>> for AsTheyAre {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Located<DomainEvent>> {
        Batch::one(event.clone())
    }
}

/// A fold whose result is written at the end of the log.
struct AtEnd<F> {
    fold: F,
    lines: LineWriter<Writer>,
}

/// A fold with a result that can be written.
trait Fold: Send {
    fn apply(&mut self, event: &DomainEvent);
    fn end(&mut self) {}
    fn write(&mut self, read: Counts, lines: &mut LineWriter<Writer>) -> io::Result<()>;
}

impl Fold for Conversation {
    fn apply(&mut self, event: &DomainEvent) {
        Self::apply(self, event);
    }

    fn write(&mut self, _: Counts, lines: &mut LineWriter<Writer>) -> io::Result<()> {
        lines.pretty_json(self)
    }
}

impl Fold for Metrics {
    fn apply(&mut self, event: &DomainEvent) {
        self.count(event);
    }

    fn end(&mut self) {
        self.end_log();
    }

    fn write(&mut self, read: Counts, lines: &mut LineWriter<Writer>) -> io::Result<()> {
        self.add_read(read.into());
        lines.text(self.render().trim_end_matches('\n'))
    }
}

impl<F: Fold> Emitter<Located<DomainEvent>, io::Error> for AtEnd<F> {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        self.fold.apply(&event.item);
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<io::Error> {
        self.fold.end();
        Batch::EMPTY
    }
}

impl<F: Fold> Sink for AtEnd<F> {
    fn flush(&mut self) -> io::Result<()> {
        self.lines.flush()
    }

    fn conclude(&mut self, read: Counts) -> io::Result<()> {
        self.fold.write(read, &mut self.lines)?;
        self.lines.flush()
    }

    fn state(&self) -> Option<Json> {
        None
    }

    fn resume(&mut self, _: &Json) -> serde_json::Result<()> {
        Ok(())
    }
}

impl Sink for JsonLines<PatchStream, PatchRecord, Writer> {
    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self)
    }

    fn state(&self) -> Option<Json> {
        Json::of(&Resume::state(self)).ok()
    }

    fn resume(&mut self, state: &Json) -> serde_json::Result<()> {
        Resume::resume(self, serde_json::from_str::<PatchStreamState>(state.get())?);
        Ok(())
    }
}

impl Sink for JsonLines<AsTheyAre, Located<DomainEvent>, Writer> {
    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self)
    }

    fn state(&self) -> Option<Json> {
        Some(Json::default())
    }

    fn resume(&mut self, _: &Json) -> serde_json::Result<()> {
        Ok(())
    }
}

impl Sink for TextLines<ByItem<Transcript>, String, Writer> {
    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self)
    }

    fn state(&self) -> Option<Json> {
        None
    }

    fn resume(&mut self, _: &Json) -> serde_json::Result<()> {
        Ok(())
    }
}
