//! The built-in sinks.

use std::{collections::BTreeMap, io};

use foldline::{
    conversation::{Conversation, DomainEvent, Json, Located, SessionKey},
    emitters::{
        lines::{JsonLines, LineWriter, TextLines},
        metrics::Metrics,
        patch::{PatchRecord, SessionPatches, session_patches},
        transcript::{SessionTranscripts, Transcript},
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

fn transcript(SinkOptions { style }: SinkOptions, writer: Writer) -> Box<dyn Sink> {
    let make: MakeTranscript = Box::new(move || Transcript::new(style));
    Box::new(TextLines::new(SessionTranscripts::new(style, make), writer))
}

type MakeTranscript = Box<dyn FnMut() -> Transcript + Send>;

fn patches(_: SinkOptions, writer: Writer) -> Box<dyn Sink> {
    Box::new(JsonLines::new(Patches(session_patches()), writer))
}

fn events(_: SinkOptions, writer: Writer) -> Box<dyn Sink> {
    Box::new(JsonLines::new(AsTheyAre, writer))
}

fn conversation(_: SinkOptions, writer: Writer) -> Box<dyn Sink> {
    Box::new(AtEnd { fold: Conversations::default(), lines: LineWriter::new(writer) })
}

fn metrics(_: SinkOptions, writer: Writer) -> Box<dyn Sink> {
    Box::new(AtEnd { fold: Metrics::default(), lines: LineWriter::new(writer) })
}

/// The patches say themselves which session they belong to.
struct Patches(SessionPatches);

impl Emitter<Located<DomainEvent>, PatchRecord> for Patches {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<PatchRecord> {
        self.0.emit(event).map(|(_, patch)| patch)
    }

    fn finish(&mut self) -> Batch<PatchRecord> {
        Emitter::<Located<DomainEvent>, _>::finish(&mut self.0).map(|(_, patch)| patch)
    }
}

impl Resume for Patches {
    type State = <SessionPatches as Resume>::State;

    fn state(&self) -> Self::State {
        self.0.state()
    }

    fn resume(&mut self, state: Self::State) {
        self.0.resume(state);
    }
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
    fn apply(&mut self, event: &Located<DomainEvent>);
    fn write(&mut self, read: Counts, lines: &mut LineWriter<Writer>) -> io::Result<()>;
}

/// A conversation for each session, one after another.
type Conversations = BTreeMap<SessionKey, Conversation>;

impl Fold for Conversations {
    fn apply(&mut self, event: &Located<DomainEvent>) {
        self.entry(event.session).or_default().apply(&event.item);
    }

    fn write(&mut self, _: Counts, lines: &mut LineWriter<Writer>) -> io::Result<()> {
        if self.is_empty() {
            return lines.pretty_json(&Conversation::default());
        }
        self.values().try_for_each(|conversation| lines.pretty_json(conversation))
    }
}

impl Fold for Metrics {
    fn apply(&mut self, event: &Located<DomainEvent>) {
        self.count(event);
    }

    fn write(&mut self, read: Counts, lines: &mut LineWriter<Writer>) -> io::Result<()> {
        self.add_read(read.into());
        lines.text(self.render().trim_end_matches('\n'))
    }
}

impl<F: Fold> Emitter<Located<DomainEvent>, io::Error> for AtEnd<F> {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        self.fold.apply(event);
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

impl Sink for JsonLines<Patches, PatchRecord, Writer> {
    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self)
    }

    fn state(&self) -> Option<Json> {
        Json::of(&Resume::state(self)).ok()
    }

    fn resume(&mut self, state: &Json) -> serde_json::Result<()> {
        Resume::resume(self, serde_json::from_str::<<Patches as Resume>::State>(state.get())?);
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

impl Sink for TextLines<SessionTranscripts<MakeTranscript>, String, Writer> {
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
