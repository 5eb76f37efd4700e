//! The origin of an entry: lines of the log, their events, and the resulting patches.
//!
//! The origin is not stored: the log is read again.

use std::convert::Infallible;

use foldline::{
    processor::DEFAULT_MAX_LINE,
    source::{LogFile, SourceError},
    transduce::{Batch, Emitter, filter},
};
use foldline_database::query::SessionLog;
use foldline_domain::{DomainEvent, EntryIdx, Located, Position, SessionKey, patch::PatchStream};
use foldline_render::html::HtmlEmitter;

use crate::{
    error::Error,
    log::Log,
    pipeline::{self, Moved},
    program::Program,
};

/// The largest number of displayed bytes of a line.
const MOST_LINE: usize = 64 << 10;

/// The largest number of displayed events: growing text has one event for each piece.
pub(super) const MOST_CAUSES: usize = 200;

/// An event that created or changed an entry.
pub(super) struct Cause {
    pub(super) position: Position,
    /// The line of the log, or the beginning of a long one.
    pub(super) line: String,
    /// The name of the event.
    pub(super) name: &'static str,
    /// The event as JSON.
    pub(super) event: String,
    /// The patch as JSON. What grows is not patched with every piece.
    pub(super) patch: Option<String>,
}

/// The origin of an entry, in order.
pub(super) fn explain(
    program: &Program,
    source: &SessionLog,
    entry: EntryIdx,
) -> Result<Vec<Cause>, Error> {
    let openers = program.openers();
    let mut log = Log::open_regular(&openers, source.path.as_ref())?;
    let executor = log.executor(&program.registry, &source.format, DEFAULT_MAX_LINE)?;
    let collect = Collect {
        entry,
        html: HtmlEmitter::default(),
        patches: PatchStream::default(),
        causes: Vec::new(),
    };
    let key = SessionKey(source.key);
    let collect = filter(collect, move |event: &Located<DomainEvent>| event.session == key);
    let mut processor = pipeline::begin(executor, collect, DEFAULT_MAX_LINE, log.span());
    while let Moved::Read(_) = pipeline::advance(&mut log, &mut processor, |_| {})? {}
    processor.flush_last_line(|_| {});
    let mut causes = std::mem::take(&mut pipeline::emitter_mut(&mut processor).get_mut().causes);
    let mut file = openers.open_regular(&*source.path)?;
    for cause in &mut causes {
        cause.line = line(&mut file, cause.position)?;
    }
    Ok(causes)
}

/// The rest of the line of the log from the beginning of a record.
fn line(file: &mut LogFile, position: Position) -> Result<String, SourceError> {
    let bytes = file.read_at(position.offset, MOST_LINE)?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).trim_end().to_owned())
}

/// Collects the origin of an entry.
struct Collect {
    entry: EntryIdx,
    /// Maps an event to its entry.
    html: HtmlEmitter,
    patches: PatchStream,
    causes: Vec<Cause>,
}

impl Emitter<Located<DomainEvent>, Infallible> for Collect {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        let patch = self.patches.record(event);
        let is_meant = self.html.fragment(&event.item).is_some_and(|it| it.index == self.entry);
        if is_meant && self.causes.len() < MOST_CAUSES {
            self.causes.push(Cause {
                position: event.position,
                line: String::new(),
                name: event.item.name(),
                // Events and patches always have a JSON form.
                event: foldline_json::to_string_pretty(&event.item).unwrap_or_default(),
                patch: patch.and_then(|it| foldline_json::to_string_pretty(&it.patch).ok()),
            });
        }
        Batch::EMPTY
    }
}
