//! [`ShippedLog`]: a log that is shipped.

mod files;

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    time::Instant,
};

use foldline::{
    ledger::{Identity, SourceName},
    source::{Follow, Notice, SourceError, Step, Until},
};

use super::{
    checkpoint::{Before, Hole, INTERVAL, Mark, Shipped},
    cut::Cutter,
    examine::{Look, created},
    flight::{Flight, Opening},
    mask::{self, Masking, SharedMasker},
    outbox::{Outbox, SendError, Ticket},
};
use crate::{
    error::report,
    piece::{Piece, Place},
};

/// The number of attempts to open a log that is being rotated.
const ATTEMPTS: usize = 10;

/// The number of chunks read from one log before the next log is read.
const CHUNKS: usize = 4;

/// A log that is shipped, whether its file is open or not.
pub(super) struct ShippedLog {
    /// Its number in this run.
    number: usize,
    pub(super) name: SourceName,
    pub(super) path: PathBuf,
    /// The path, with non-Unicode parts replaced.
    pub(super) shown: String,
    /// The path as sent in messages.
    sent_path: String,
    format: String,
    /// The end of the sent data.
    place: Place,
    /// How much of the previous file was sent, if this is known.
    ended: Option<u64>,
    opening: Opening,
    /// Where bytes may be missing.
    pub(super) holes: Vec<Hole>,
    cutter: Cutter,
    /// `None` while the log is idle.
    follow: Option<Box<Follow>>,
    pub(super) flight: Flight,
    /// Sent positions to resume from, not necessarily acknowledged yet.
    marks: VecDeque<Mark>,
    /// The position to resume from after a crash.
    stored: Option<Mark>,
    /// The identity of the current file at its last mark.
    latest: Option<Identity>,
    /// The current file, as an entry for `before`.
    current: Option<Before>,
    /// The file before it, if it is known.
    previous: Option<Before>,
    /// The earlier files.
    pub(super) before: Vec<Before>,
    /// The last mark; `None` if a mark is due.
    marked: Option<(Place, Instant)>,
    is_complete: bool,
    /// This run has found a hole.
    pub(super) has_lost: bool,
    /// The user whose file it is.
    user: Option<String>,
    /// The state of the path when it was last read to its end.
    pub(super) seen: Option<Look>,
    /// The last reported read error.
    pub(super) trouble: Option<String>,
    /// Nothing more is read in this run.
    pub(super) is_done: bool,
    pub(super) last_change: Instant,
    pub(super) next_look: Instant,
}

/// The outcome of reading a log.
pub(super) enum Read {
    /// There may be more.
    More,
    /// There is nothing more at present.
    Nothing,
    /// Nothing more is sent until the checkpoint names the file.
    Waiting,
    /// The file no longer belongs to the log, with the reason.
    Lost(SourceError),
}

/// The common fields of all pieces.
pub(super) struct Common {
    pub(super) host: String,
    pub(super) task: Option<String>,
    pub(super) max_message: usize,
    /// Masks secrets, if enabled.
    pub(super) masker: Option<SharedMasker>,
}

impl ShippedLog {
    /// A new log.
    pub(super) fn new(
        number: usize,
        name: &str,
        path: PathBuf,
        format: String,
        common: &Common,
    ) -> Self {
        let now = Instant::now();
        let shown = path.to_string_lossy().into_owned();
        let masking = common.masker.clone().map(Masking::new);
        Self {
            number,
            name: name.into(),
            user: foldline_cli::shared::user(&path),
            sent_path: mask::path(&shown, common.masker.as_ref()),
            shown,
            path,
            format,
            place: Place::default(),
            ended: None,
            opening: Opening::default(),
            holes: Vec::new(),
            cutter: Cutter::new(common.max_message, masking),
            follow: None,
            flight: Flight::default(),
            marks: VecDeque::new(),
            stored: None,
            latest: None,
            current: None,
            previous: None,
            before: Vec::new(),
            marked: None,
            is_complete: false,
            has_lost: false,
            seen: None,
            trouble: None,
            is_done: false,
            last_change: now,
            next_look: now,
        }
    }

    /// A log that an earlier run has shipped in part.
    pub(super) fn resumed(
        number: usize,
        name: &str,
        path: PathBuf,
        shipped: &Shipped,
        common: &Common,
    ) -> Self {
        let place = Place { file: shipped.file, offset: shipped.offset };
        let format = shipped.format.clone();
        let (identity, previous) = (shipped.identity, shipped.previous);
        Self {
            place,
            opening: Opening::named(shipped.file),
            holes: shipped.holes.clone(),
            stored: Some(Mark { place, identity, previous }),
            latest: Some(identity),
            current: Some(Before::of(&identity)),
            previous,
            before: shipped.before.clone(),
            is_complete: shipped.is_complete,
            ..Self::new(number, name, path, format, common)
        }
    }

    /// The entry of the log in the checkpoint, once anything was acknowledged.
    pub(super) fn shipped(&self) -> Option<Shipped> {
        let Mark { place, identity, previous } = self.stored?;
        Some(Shipped {
            path: self.shown.clone(),
            format: self.format.clone(),
            file: place.file,
            offset: place.offset,
            identity,
            previous,
            before: self.before.clone(),
            is_complete: self.is_complete && self.flight.is_over(),
            is_replaced: false,
            holes: self.holes.clone(),
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.follow.is_some()
    }

    /// Opens its file, or the sibling to which it was rotated.
    pub(super) fn open(&mut self) -> Result<(), SourceError> {
        self.marked = None;
        let Some(left) = self.latest else {
            self.follow = Some(Box::new(Follow::open(&self.path, Until::Polled)?));
            return Ok(());
        };
        for _ in 0..ATTEMPTS {
            let mut follow = Follow::open(&self.path, Until::Polled)?;
            if let Some(previous) = self.previous {
                follow = follow.after(previous.identity());
            }
            self.cutter.clear();
            let notice = follow.resume(&left)?;
            // Otherwise it was truncated, which the next step reports.
            let is_resumed = follow.file().offset() > 0;
            if is_resumed {
                // Bytes that were read, and not sent, are read again.
                match self.place.offset {
                    0 => self.opening.hold(&follow.read_at(0, left.read.length as usize)?),
                    offset => self.cutter.resume_at(&mut follow, offset)?,
                }
            }
            // It may have been truncated, and written again, before they were read again.
            let is_alike = |found: Identity| found.is_alike(&left);
            if !is_resumed || follow.identity(left.read.length)?.is_some_and(is_alike) {
                notice.iter().for_each(|notice| report_notice(&self.path, notice));
                self.follow = Some(Box::new(follow));
                return Ok(());
            }
        }
        Err(SourceError::Unrecognised { path: self.path.clone(), is_shorter: false })
    }

    /// Closes its file if the log can be resumed from the recorded state; returns whether it was closed.
    pub(super) fn close(&mut self) -> bool {
        let is_left = !self.opening.is_held()
            && self.flight.is_over()
            && self.marks.is_empty()
            && self.marked.is_some_and(|(place, _)| place == self.place)
            && self.is_settled();
        if is_left {
            self.follow = None;
            self.cutter.clear();
        }
        is_left
    }

    /// Reads new data and sends it.
    pub(super) fn read(&mut self, common: &Common, outbox: &mut Outbox) -> Result<Read, SendError> {
        // Recorded before reading: later changes are seen the next time.
        let seen = Look::at(&self.path);
        if self.follow.is_none()
            && let Err(error) = self.open()
        {
            return Ok(Read::Lost(error));
        }
        if self.is_waiting() {
            return Ok(Read::Waiting);
        }
        for _ in 0..CHUNKS {
            let Self {
                number,
                name,
                sent_path,
                format,
                place,
                ended,
                opening,
                cutter,
                follow,
                flight,
                user,
                ..
            } = self;
            let Some(reading) = follow else { break };
            let file = place.file;
            let created = (*place == Place::default()).then(|| created(&self.path)).flatten();
            let mut give = |bytes: &[u8]| {
                let piece = Piece {
                    source: name.clone(),
                    place: *place,
                    format,
                    path: sent_path,
                    host: &common.host,
                    user: user.as_deref(),
                    task: common.task.as_deref(),
                    before: ended.filter(|_| place.offset == 0),
                    created: created.filter(|_| *place == Place::default()),
                    is_end: false,
                    bytes,
                };
                outbox.send(&piece, Ticket { log: *number, piece: flight.next() })?;
                *place = place.after(bytes.len());
                flight.sent(*place);
                Ok::<_, SendError>(())
            };
            if let Some(held) = opening.take(file) {
                cutter.push(&held, &mut give)?;
                continue;
            }
            let step = match reading.step() {
                Ok(step) => step,
                Err(error) => return Ok(Read::Lost(error)),
            };
            let next = match step {
                Step::Bytes(bytes) if !opening.is_named(file) => {
                    opening.hold(bytes);
                    (self.is_complete, self.last_change) = (false, Instant::now());
                    self.begin().map_err(failed)?;
                    return Ok(Read::Waiting);
                }
                Step::Bytes(bytes) => {
                    self.is_complete = false;
                    self.last_change = Instant::now();
                    cutter.push(bytes, &mut give)?;
                    if cutter.has_too_long() {
                        let path = &self.shown;
                        report(&format!(
                            "{path}: a line too long to be searched is masked entirely"
                        ));
                    }
                    None
                }
                Step::Notice(notice) => {
                    report_notice(&self.path, &notice);
                    self.marked = None;
                    None
                }
                // An unterminated line ends at the end of the file.
                Step::NextFile(notice) => {
                    cutter.release(&mut give)?;
                    Some(notice)
                }
                Step::Idle | Step::End => {
                    self.mark().map_err(failed)?;
                    self.seen = seen;
                    return Ok(Read::Nothing);
                }
            };
            if let Some(notice) = next {
                report_notice(&self.path, &notice);
                self.next_file(&notice);
            }
        }
        if self.marked.is_none_or(|(_, at)| at.elapsed() >= INTERVAL) {
            self.mark().map_err(failed)?;
        }
        Ok(Read::More)
    }

    /// Declares the log complete: sends the held bytes and an end message.
    pub(super) fn finish(&mut self, common: &Common, outbox: &mut Outbox) -> Result<(), SendError> {
        if self.is_complete {
            return Ok(());
        }
        let Self { number, name, sent_path, format, place, cutter, flight, user, .. } = self;
        let mut give = |bytes: &[u8], is_end| {
            let piece = Piece {
                source: name.clone(),
                place: *place,
                format,
                path: sent_path,
                host: &common.host,
                user: user.as_deref(),
                task: common.task.as_deref(),
                before: None,
                created: None,
                is_end,
                bytes,
            };
            outbox.send(&piece, Ticket { log: *number, piece: flight.next() })?;
            *place = place.after(bytes.len());
            flight.sent(*place);
            Ok::<_, SendError>(())
        };
        cutter.release(|bytes| give(bytes, false))?;
        give(b"", true)?;
        self.is_complete = true;
        self.mark().map_err(failed)
    }

    /// Whether its file is closed and has unsent bytes.
    pub(super) fn has_rest(&self) -> bool {
        !self.is_open() && self.seen.is_some_and(|seen| seen.length > self.place.offset)
    }
}

/// Reports a change of the file of a log.
fn report_notice(path: &Path, notice: &Notice) {
    report(&format!("{} {notice}", path.display()));
}

fn failed(error: SourceError) -> SendError {
    SendError::Failed(error.into())
}
