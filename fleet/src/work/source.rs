//! [`Source`]: one source that a worker folds.

use std::{path::Path, sync::Arc};

use foldline::{
    ledger::{Checkpoint, Commit, Identity, SourceFacts, SourceName},
    processor::{DEFAULT_MAX_LINE, Segments},
};
use foldline_agents::{Records, Registry};
use foldline_cli::shared::pipeline::{self, LogEmitter, LogReducer, LogState};
use foldline_domain::{Json, Position, TaskId};
use serde::{Deserialize, Serialize};
use tracing::{Span, field::Empty, info_span};

use super::{
    outgoing::{Messages, Outgoing, Target},
    unfinished::Unfinished,
};
use crate::{
    error::Error,
    ledger::Message,
    messages::{Extent, Reached, Sender, VERSION},
    piece::{Piece, Place},
};

type SourceSegments = Segments<LogReducer, LogState, LogEmitter<Outgoing>, Messages, Records>;

/// The state of a source, as stored in checkpoints.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// The number of files of the log before the current one.
    file: u64,
    /// `None` of a complete log.
    snapshot: Option<Json>,
    #[serde(default, skip_serializing_if = "Unfinished::is_empty")]
    unfinished: Unfinished,
}

/// A source that is being folded.
pub(super) struct Source {
    name: SourceName,
    sender: Arc<Sender>,
    target: Arc<Target>,
    /// `None` once the log is complete.
    segments: Option<SourceSegments>,
    /// The end of the pushed bytes.
    pushed: Place,
    /// The bytes of an incomplete line.
    unfinished: Unfinished,
    /// Whether anything was pushed since the last stored state.
    is_unsaved: bool,
    /// The first message with bytes of an incomplete line that are not in the state.
    begun: Option<i64>,
    /// Data to be committed.
    pending: Option<Commit<Vec<Message>>>,
    /// Its approximate size in bytes.
    pending_size: usize,
    events: u64,
    /// What the last checkpoint covers.
    sent: Extent,
}

/// The data of a source to be committed.
pub(super) enum Cut {
    /// Messages after the last stored state. If the worker ends before the next one is stored, the next owner folds the
    /// same events again, and recognises them.
    Ahead(Vec<Message>),
    /// Messages, and the state after them.
    Stored(Box<Commit<Vec<Message>>>),
}

/// The result of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceResult {
    /// It was folded.
    Folded,
    /// It was already known.
    Known,
    /// Bytes before the piece are missing, from this position on. It is not folded.
    Gap(Place),
    /// The log was already declared complete. The piece is not folded.
    Late,
}

impl Source {
    /// Begins a source with its first piece, or resumes it from its stored state; `None` if this program has no
    /// executor for the format. Events up to the last checkpoint, `sent`, are not sent again.
    pub(super) fn open(
        registry: &Registry,
        target: &Arc<Target>,
        piece: &Piece<'_>,
        stored: Option<Checkpoint>,
        sent: Extent,
    ) -> Result<Option<Self>, Error> {
        let format = stored.as_ref().map_or(piece.format, |stored| stored.facts.format.as_str());
        let Some(executor) = registry.named(format) else { return Ok(None) };
        let executor = executor.of_file(Path::new(piece.path), &|_| None);
        let (source, host) = (piece.source.as_str().into(), piece.host.into());
        let sender = Arc::new(Sender { source, host, partition: target.partition });
        let emitter = Outgoing::new(target.clone(), sender.clone(), sent.events);
        let span = span(piece.path);
        let mut facts = SourceFacts {
            path: piece.path.to_owned(),
            format: format.to_owned(),
            task: piece.task.map(str::to_owned),
            host: Some(piece.host.to_owned()).filter(|host| !host.is_empty()),
            user: piece.user.map(str::to_owned),
            identity: Identity::default(),
        };
        let mut unfinished = Unfinished::default();
        let (processor, expected, mut pushed, is_complete) = match stored {
            None => {
                let processor = pipeline::begin(executor, emitter, DEFAULT_MAX_LINE, span);
                (Some(processor), None, Place::default(), false)
            }
            Some(stored) => {
                let fail =
                    |reason: String| Error::State { source_name: piece.source.clone(), reason };
                let Stored { file, snapshot, unfinished: bytes } =
                    serde_json::from_str(stored.state.get())
                        .map_err(|error| fail(error.to_string()))?;
                unfinished = bytes;
                facts.task = stored.facts.task;
                let resume = |snapshot| {
                    pipeline::resume(executor, &snapshot, emitter, DEFAULT_MAX_LINE, span)
                        .map_err(|error| fail(error.to_string()))
                };
                let processor = snapshot.map(resume).transpose()?;
                let end = Place { file, offset: stored.position.offset };
                (processor, Some(stored.position), end, stored.complete)
            }
        };
        let mut events = sent.events;
        if let Some(processor) = &processor {
            pushed.offset = processor.position().offset;
            events = pipeline::emitter(processor).events();
        }
        let segments = processor
            .map(|processor| Segments::new(piece.source.clone(), facts, expected, processor));
        let mut source = Self {
            name: piece.source.clone(),
            sender,
            target: target.clone(),
            segments,
            pushed,
            unfinished,
            is_unsaved: false,
            begun: None,
            pending: None,
            pending_size: 0,
            events,
            sent: sent.max(Extent {
                events,
                file: pushed.file,
                offset: expected.map_or(0, |position| position.offset),
                complete: is_complete,
            }),
        };
        source.push_unfinished();
        Ok(Some(source))
    }

    /// Pushes the stored bytes of an incomplete line.
    fn push_unfinished(&mut self) {
        let Some(segments) = &mut self.segments else { return };
        let bytes = self.unfinished.bytes();
        segments.push(&bytes);
        self.pushed = self.pushed.after(bytes.len());
    }

    /// Folds the piece of the message at this offset.
    pub(super) fn take(&mut self, piece: &Piece<'_>, offset: i64) -> Result<PieceResult, Error> {
        let is_known = piece.place.after(piece.bytes.len()) <= self.pushed;
        if is_known && !(piece.is_end && self.segments.is_some()) {
            return Ok(PieceResult::Known);
        }
        let Some(segments) = &mut self.segments else { return Ok(PieceResult::Late) };
        let is_next_file = piece.place == Place { file: self.pushed.file + 1, offset: 0 }
            && piece.before.is_none_or(|before| before == self.pushed.offset);
        if is_next_file {
            segments.next_file();
            (self.pushed, self.begun) = (piece.place, None);
            self.unfinished.clear();
        }
        // A restarted shipper may cut the same bytes at other positions.
        let skipped = match piece.place.file == self.pushed.file {
            true => self.pushed.offset.checked_sub(piece.place.offset),
            false => None,
        };
        let fresh = skipped.and_then(|skipped| piece.bytes.get(usize::try_from(skipped).ok()?..));
        let Some(bytes) = fresh else { return Ok(PieceResult::Gap(self.pushed)) };
        segments.push(bytes);
        self.pushed = self.pushed.after(bytes.len());
        self.commit_due()?;
        self.compare()?;
        if let Some(segments) = &self.segments {
            let length = self.pushed.offset - segments.processor().position().offset;
            let is_stored = self.unfinished.push(bytes, length);
            self.begun = (!is_stored).then(|| self.begun.unwrap_or(offset));
            self.is_unsaved = true;
        }
        if piece.is_end {
            self.finish()?;
        }
        Ok(PieceResult::Folded)
    }

    /// The first message that must be read again if the worker ends after a commit: it continues an incomplete line that
    /// is too long for the state.
    pub(super) fn begun(&self) -> Option<i64> {
        self.begun
    }

    /// The approximate size of the messages that wait for the commit, in bytes.
    pub(super) fn pending_size(&self) -> usize {
        self.pending_size
    }

    /// Takes the data to be committed. The state is only included if it is to be `stored`, or has to be.
    pub(super) fn cut(&mut self, is_stored: bool) -> Result<Cut, Error> {
        if (is_stored && self.is_unsaved) || self.pending.is_some() {
            self.segment()?;
        }
        self.pending_size = 0;
        let Some(mut commit) = self.pending.take() else { return self.cut_ahead().map(Cut::Ahead) };
        let Checkpoint { position, complete, facts, .. } = &commit.checkpoint;
        let checkpoint = self.checkpoint(facts, *position, *complete)?;
        commit.output.extend(checkpoint);
        // Nothing follows a complete log: only its end is stored.
        let snapshot = std::mem::take(&mut commit.checkpoint.state);
        let snapshot = (!commit.checkpoint.complete).then_some(snapshot);
        let unfinished = self.unfinished.stored();
        let stored = Stored { file: self.pushed.file, snapshot, unfinished };
        commit.checkpoint.state = Json::of(&stored).map_err(|error| self.failure(&error))?;
        self.is_unsaved = false;
        Ok(Cut::Stored(commit.into()))
    }

    /// Takes the messages since the last cut.
    fn cut_ahead(&mut self) -> Result<Vec<Message>, Error> {
        let Some(segments) = &mut self.segments else { return Ok(Vec::new()) };
        let messages = segments.take();
        self.events = pipeline::emitter(segments.processor()).events();
        let (position, facts) = (segments.processor().next_record(), segments.facts().clone());
        let mut messages = self.sound(messages)?;
        messages.extend(self.checkpoint(&facts, position, false)?);
        Ok(messages)
    }

    /// What the last checkpoint covers.
    pub(super) fn sent(&self) -> Extent {
        self.sent
    }

    /// What is covered up to a position.
    fn extent(&self, position: Position, complete: bool) -> Extent {
        let (events, file) = (self.events, self.pushed.file);
        Extent { events, file, offset: position.offset, complete }
    }

    /// The message that states the position reached, if it is beyond the last one.
    fn checkpoint(
        &mut self,
        facts: &SourceFacts,
        position: Position,
        complete: bool,
    ) -> Result<Option<Message>, Error> {
        let extent = self.extent(position, complete);
        if extent <= self.sent {
            return Ok(None);
        }
        self.sent = extent;
        let reached = Reached {
            version: VERSION,
            source: self.name.to_string(),
            host: self.sender.host.to_string(),
            user: facts.user.clone(),
            path: facts.path.clone(),
            format: facts.format.clone(),
            task: facts.task.as_deref().map(TaskId::from),
            file: extent.file,
            position,
            events: extent.events,
            complete,
        };
        let mut json = Vec::new();
        foldline_json::append(&mut json, &reached).map_err(|error| self.failure(&error))?;
        Ok(Some(self.sender.message(&self.target.checkpoints, self.name.as_str(), json)))
    }

    /// Folding a log again must give the same events. Another version of an executor may give others: their numbers
    /// would be those of events that were sent.
    fn compare(&self) -> Result<(), Error> {
        let Some(segments) = &self.segments else { return Ok(()) };
        let events = pipeline::emitter(segments.processor()).events();
        let Extent { events: sent, file, offset, .. } = self.sent;
        let is_there =
            (file, offset) == (self.pushed.file, segments.processor().next_record().offset);
        match is_there && events != sent {
            false => Ok(()),
            true => Err(Error::State {
                source_name: self.name.clone(),
                reason: format!(
                    "up to {file}:{offset}, {sent} events were sent, but it has {events} when it is folded again"
                ),
            }),
        }
    }

    fn commit_due(&mut self) -> Result<(), Error> {
        while self.segments.as_ref().is_some_and(Segments::is_due) {
            self.segment()?;
            if let Some(segments) = &mut self.segments {
                segments.go_on();
            }
        }
        let failed =
            self.segments.as_ref().and_then(|segments| segments.collected().failed.as_ref());
        failed.map_or(Ok(()), |error| Err(self.failure(error)))
    }

    /// Ends a segment, and adds it to the data to be committed.
    fn segment(&mut self) -> Result<(), Error> {
        let Some(segments) = &mut self.segments else { return Ok(()) };
        self.events = pipeline::emitter(segments.processor()).events();
        let identity = identity(segments.processor().next_record().offset);
        let commit = segments.commit(identity);
        self.add(commit)
    }

    /// Completes the log: releases held data.
    fn finish(&mut self) -> Result<(), Error> {
        let Some(segments) = &mut self.segments else { return Ok(()) };
        segments.end_line();
        self.commit_due()?;
        let Some(segments) = self.segments.take() else { return Ok(()) };
        let finished = segments.finish(|end| identity(end.offset));
        let commit = finished.map(|(commit, finished)| {
            self.events = finished.emitter.get_ref().events();
            commit
        });
        self.begun = None;
        self.unfinished.clear();
        self.add(commit)
    }

    fn add(&mut self, commit: Result<Commit<Messages>, foldline_json::Error>) -> Result<(), Error> {
        let mut commit = commit.map_err(|error| self.failure(&error))?;
        let messages = self.sound(std::mem::take(&mut commit.output))?;
        let commit = commit.map(|_| messages);
        self.pending_size += size(&commit.output);
        match &mut self.pending {
            Some(pending) => pending.append(commit, |all, mut more| all.append(&mut more)),
            pending => *pending = Some(commit),
        }
        Ok(())
    }

    /// The messages, if all could be made.
    fn sound(&self, Messages { all, failed, .. }: Messages) -> Result<Vec<Message>, Error> {
        failed.map_or(Ok(all), |error| Err(self.failure(&error)))
    }

    fn failure(&self, error: &foldline_json::Error) -> Error {
        Error::State { source_name: self.name.clone(), reason: error.to_string() }
    }
}

/// Only the length of a file on another machine is known.
fn identity(length: u64) -> Identity {
    let mut identity = Identity::default();
    (identity.size, identity.read.length) = (length, length);
    identity
}

fn size(messages: &[Message]) -> usize {
    messages.iter().filter_map(|message| message.value.as_ref()).map(Vec::len).sum()
}

fn span(path: &str) -> Span {
    info_span!("source", path, format = Empty)
}
