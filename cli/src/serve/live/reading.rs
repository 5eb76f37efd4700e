//! The thread of a [`LiveSession`]: reads the log, and continues as it grows.

use std::{
    convert::Infallible,
    fs, io,
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
};

use foldline::{
    processor::DEFAULT_MAX_LINE,
    source::{SourceError, Until},
    transduce::{Batch, Emitter, filter},
};
use foldline_database::{SessionEvents, Store, query::SessionLog};
use foldline_domain::{Conversation, DomainEvent, Located, SessionKey};

use super::session::LiveSession;
use crate::{
    error::Error,
    log::Log,
    pipeline::{self, Moved},
    program::Program,
};

/// Opens the database.
pub(super) type Open = Box<dyn Fn() -> Result<Box<dyn Store>, Error> + Send>;

/// Begins to read. A session whose log was deleted is read from the database.
///
/// A session has one open file, the log, and no open database and no watch of a folder, which have several: many
/// systems allow 256 open files.
pub(super) fn start(program: &Program, live: Arc<LiveSession>, source: SessionLog, open: Open) {
    let program = program.clone();
    thread::spawn(move || {
        let mut rows = None;
        let mut read = follow(&program, &live, &source);
        if is_gone(&read) {
            read = Rows::load(&live, source, open).map(|loaded| rows = Some(loaded));
        }
        let mut document = live.document();
        document.failure = read.err().map(|error| error.to_string());
        document.set_current();
        drop(document);
        live.set_read();
        if let Some(mut rows) = rows
            && !rows.follow(&live)
        {
            live.end();
        }
    });
}

/// A session in the database, which another program may still write.
struct Rows {
    source: SessionLog,
    open: Open,
    events: SessionEvents,
    place: Option<(i64, i64, bool)>,
}

impl Rows {
    /// Builds the document from the stored session, and the page from its events.
    fn load(live: &LiveSession, source: SessionLog, open: Open) -> Result<Self, Error> {
        let database = open()?;
        let place = database.read_to(source.number).ok().flatten();
        let mut events = SessionEvents::new(source.number);
        let mut stored = Conversation::default();
        events.read(&*database, |event| {
            live.document().show(&event);
            stored.apply(&event);
        })?;
        live.document().restore(stored);
        Ok(Self { source, open, events, place })
    }

    /// Continues the document with rows that are added to the database. Returns whether this was possible until
    /// the session ended.
    fn follow(&mut self, live: &LiveSession) -> bool {
        while !live.has_ended() && !live.is_complete() {
            thread::sleep(RARELY);
            // It may be in use.
            let Ok(database) = (self.open)() else { continue };
            let place = database.read_to(self.source.number).ok().flatten();
            if place == self.place {
                continue;
            }
            let apply = |event| live.document().apply(&event);
            let is_behind = place < self.place;
            if is_behind || !self.events.read(&*database, apply).unwrap_or(false) {
                return false;
            }
            self.place = place;
            live.set_grew(Some(SystemTime::now()));
            live.notify();
        }
        true
    }
}

/// Whether the log was removed.
fn is_gone(read: &Result<(), Error>) -> bool {
    matches!(read, Err(Error::Source(SourceError::Open { error, .. }))
        if error.kind() == io::ErrorKind::NotFound)
}

/// The time after which a log that did not grow is considered complete, so that its open calls have ended.
const GROWS: Duration = Duration::from_secs(60 * 60);

/// The interval of checks whether a log has grown.
const OFTEN: Duration = Duration::from_millis(50);

/// The interval of checks whether a complete log has grown nevertheless.
const RARELY: Duration = Duration::from_secs(1);

/// Reads the log until its end is stated, or the session has ended.
fn follow(program: &Program, live: &Arc<LiveSession>, source: &SessionLog) -> Result<(), Error> {
    let metadata = fs::metadata(&source.path).ok();
    let length = metadata.as_ref().map_or(0, fs::Metadata::len);
    let grew = metadata.and_then(|metadata| metadata.modified().ok());
    live.set_grew(grew);
    let age = grew.and_then(|grew| SystemTime::now().duration_since(grew).ok());
    let is_complete = age.is_some_and(|age| age > GROWS);
    let until = match program.registry.named(&source.format) {
        _ if is_complete => Until::EndOfFile,
        Some(_) => Until::Polled,
        // Its format is recognised first, which does not pause.
        None => Until::Stopped,
    };
    let follow = program.openers().follow(&*source.path, until)?.with_stop(Arc::clone(&live.stop));
    let mut log = Log::Followed(Box::new(follow));
    let executor = log.executor(&program.registry, &source.format, DEFAULT_MAX_LINE)?;
    let (publish, key) = (Publish(Arc::clone(live)), SessionKey(source.key));
    let publish = filter(publish, move |event: &Located<DomainEvent>| event.session == key);
    let mut processor = pipeline::begin(executor, publish, DEFAULT_MAX_LINE, log.span());
    let mut read = 0;
    loop {
        // What comes to the end of a log after it is complete has come to its end.
        let is_whole = live.is_complete();
        match pipeline::advance(&mut log, &mut processor, |_| {})? {
            Moved::Read(bytes) => {
                read += bytes as u64;
                if live.document().is_current() {
                    live.set_grew(Some(SystemTime::now()));
                } else if read >= length {
                    processor.flush_last_line(|_| {});
                    live.document().set_current();
                }
                live.notify();
            }
            Moved::Noticed(notice) => tracing::info!(%notice, "the log"),
            Moved::NextFile(notice) => {
                tracing::info!(%notice, "the log");
                live.notify();
            }
            Moved::Idle if is_whole => break,
            Moved::Idle => {
                let events = live.document().events();
                processor.flush_last_line(|_| {});
                let mut document = live.document();
                let has_changed = document.events() != events || !document.is_current();
                document.set_current();
                drop(document);
                if has_changed {
                    live.notify();
                }
                if live.has_ended() {
                    return Ok(());
                }
                thread::sleep(OFTEN);
            }
            Moved::Done => break,
            Moved::End if is_complete => break,
            Moved::End => return Ok(()),
        }
    }
    processor.finish(|_| {});
    drop(log);
    live.document().set_current();
    live.notify();
    // If the log grows, it is read again.
    while !live.has_ended()
        && !live.is_complete()
        && fs::metadata(&source.path).is_ok_and(|now| now.len() == length)
    {
        thread::sleep(RARELY);
    }
    if is_complete {
        live.end();
    }
    Ok(())
}

/// Puts the events of the session into its document.
struct Publish(Arc<LiveSession>);

impl Emitter<Located<DomainEvent>, Infallible> for Publish {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        self.0.document().apply(&event.item);
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<Infallible> {
        self.0.document().end();
        Batch::EMPTY
    }
}
