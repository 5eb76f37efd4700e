//! The built-in sinks.

use std::convert::Infallible;

use foldline::{
    position::{ByItem, Located, SessionKey, by_item},
    transduce::{Batch, KeyedEmitter, Map, at_end, map, memoryless},
};
use foldline_domain::{
    Conversation, DomainEvent, DynEmitter, audit::AuditTrail, lines::Lines, metrics::Metrics,
    patch::session_patches,
};
use foldline_render::transcript::{SessionTranscripts, Transcript};

use super::{
    kind::{SinkKind, SinkOptions, Writer},
    otlp,
};

/// The built-in sinks; the first one is the default.
pub(super) fn kinds() -> Vec<SinkKind> {
    let resumable = |name, about, make: fn(&SinkOptions, Writer) -> DynEmitter| {
        SinkKind::new(name, about, make)
    };
    vec![
        resumable("transcript", "Readable text", transcript).whole(),
        resumable(
            "patches",
            "JSON Patches, one on each line, with session, number and log position",
            |_, writer| DynEmitter::new(Lines::json(map(session_patches(), |(_, it)| it), writer)),
        ),
        resumable(
            "events",
            "Domain events, one on each line, with session and log position",
            |_, writer| DynEmitter::new(Lines::json(memoryless(event), writer)),
        ),
        resumable("conversation", "A JSON document for each session", conversation).whole(),
        resumable("metrics", "Counters in the Prometheus text format, at the end", metrics).whole(),
        resumable(
            "audit",
            "Hash-chained records, one for each event; see foldline verify",
            |options, writer| {
                DynEmitter::new(Lines::text(AuditTrail::of_log(&options.log), writer))
            },
        )
        .hashing_lines(),
        resumable(
            "otlp",
            "OpenTelemetry: spans, log records and metrics as OTLP/JSON; see --content",
            otlp::emitter,
        )
        .sent(),
    ]
}

fn event(event: &Located<DomainEvent>) -> Batch<Located<DomainEvent>> {
    Batch::one(event.clone())
}

fn transcript(options: &SinkOptions, writer: Writer) -> DynEmitter {
    let style = options.style;
    let transcripts = SessionTranscripts::new(style, move || Transcript::new(style));
    DynEmitter::whole(Lines::text(transcripts, writer), |_, _| {})
}

fn conversation(_: &SinkOptions, writer: Writer) -> DynEmitter {
    let sessions = KeyedEmitter::new(
        |event: &Located<DomainEvent>| event.session,
        |_: &SessionKey| by_item(Conversation::default()),
    );
    let sessions = map(sessions, |(_, never): (SessionKey, Infallible)| match never {});
    DynEmitter::whole(Lines::pretty_json(at_end(sessions, documents), writer), |_, _| {})
}

/// The documents of all sessions, one after another; an empty one for a log without any.
fn documents<Key, Make, Never, Out>(
    sessions: &mut Map<KeyedEmitter<SessionKey, ByItem<Conversation>, Key, Make>, Never, Out>,
) -> Batch<Conversation> {
    let sessions = std::mem::take(sessions.get_mut().get_mut());
    let mut documents: Batch<_> = sessions.into_values().map(ByItem::into_inner).collect();
    if documents.is_empty() {
        documents.push(Conversation::default());
    }
    documents
}

fn metrics(_: &SinkOptions, writer: Writer) -> DynEmitter {
    let text = |metrics: &mut Metrics| Batch::one(metrics.render().trim_end().to_owned());
    let metrics = at_end(Metrics::default(), text);
    DynEmitter::whole(Lines::text(metrics, writer), |metrics, read| {
        metrics.get_mut().add_read(read.into());
    })
}
