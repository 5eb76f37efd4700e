//! [`ShippedLog`]: a log that is shipped.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    time::Instant,
};

use foldline::{
    ledger::{Identity, SourceName},
    source::{Follow, LogFile, Notice, SourceError, Step, Until, rotated_files},
};

use super::{
    checkpoint::{Before, INTERVAL, Shipped},
    cut::Cutter,
    flight::Flight,
    look::{Look, Number, created},
    mask::{self, Masking, SharedMasker},
    outbox::{Outbox, Ticket, Unsent},
};
use crate::{error::Error, piece::Piece, place::Place, say::say};

/// The number of chunks read from one log before the next log is read.
const CHUNKS: usize = 4;

/// The minimum length at which a copy is recognised by its content: many logs share a shorter beginning.
const CERTAIN: u64 = 1024;

/// A log that is shipped, whether its file is open or not.
pub(super) struct ShippedLog {
    /// Its number in this run.
    number: usize,
    pub(super) name: SourceName,
    pub(super) path: PathBuf,
    /// The path, with non-Unicode parts replaced.
    pub(super) shown: String,
    /// The path as sent in messages.
    told: String,
    format: String,
    /// The end of the sent data.
    place: Place,
    /// How much of the previous file was sent.
    ended: Option<u64>,
    cutter: Cutter,
    /// `None` while the log is idle.
    follow: Option<Box<Follow>>,
    pub(super) flight: Flight,
    /// Sent positions to resume from, not necessarily acknowledged yet.
    marks: VecDeque<(Place, Identity)>,
    /// The position to resume from after a crash.
    pub(super) stored: Option<(Place, Identity)>,
    /// The identity of the current file at its last mark.
    latest: Option<Identity>,
    /// The current file, as an entry for `before`.
    current: Option<Before>,
    /// The earlier files.
    pub(super) before: Vec<Before>,
    /// The last mark; `None` if a mark is due.
    marked: Option<(Place, Instant)>,
    is_complete: bool,
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
            told: mask::path(&shown, common.masker.as_ref()),
            shown,
            path,
            format,
            place: Place::default(),
            ended: None,
            cutter: Cutter::new(common.max_message, masking),
            follow: None,
            flight: Flight::default(),
            marks: VecDeque::new(),
            stored: None,
            latest: None,
            current: None,
            before: Vec::new(),
            marked: None,
            is_complete: false,
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
        Self {
            place,
            stored: Some((place, shipped.identity)),
            latest: Some(shipped.identity),
            current: Some(Before::of(&shipped.identity)),
            before: shipped.before.clone(),
            is_complete: shipped.is_complete,
            ..Self::new(number, name, path, format, common)
        }
    }

    /// The entry of the log in the checkpoint, once anything was acknowledged.
    pub(super) fn shipped(&self) -> Option<Shipped> {
        let (place, identity) = self.stored?;
        Some(Shipped {
            path: self.shown.clone(),
            format: self.format.clone(),
            file: place.file,
            offset: place.offset,
            identity,
            before: self.before.clone(),
            is_complete: self.is_complete && self.flight.is_over(),
            is_replaced: false,
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.follow.is_some()
    }

    /// The device and inode of the current file.
    pub(super) fn file_number(&self) -> Option<Number> {
        let status = self.follow.as_ref().and_then(|follow| follow.file().status().ok()?);
        let file = status.as_ref().map(Before::of).or(self.current)?;
        Some((file.device, file.inode))
    }

    /// Whether the current file is at the path of the log, or no file is.
    pub(super) fn is_settled(&self) -> bool {
        let here = Look::at(&self.path);
        here.is_none_or(|here| self.file_number().is_none_or(|number| number == here.number))
    }

    /// Whether the file may have changed since it was last read.
    pub(super) fn is_changed(&self) -> bool {
        let here = Look::at(&self.path);
        here != self.seen || (self.is_open() && !self.is_settled())
    }

    /// Whether the file is unchanged since an earlier run shipped it completely. Then it need not be read.
    pub(super) fn is_as_it_was(&mut self) -> bool {
        let here = Look::at(&self.path);
        let status = LogFile::open_regular(&self.path).and_then(|file| file.status());
        let Ok(Some(status)) = status else { return false };
        let is_as_it_was = self.latest.is_some_and(|left| {
            let (length, modified) = (status.size, status.modified);
            status.is_same_file(&left)
                && (length, modified) == (left.read.length, left.modified)
                && left.size == length
        });
        if is_as_it_was {
            self.seen = here;
        }
        is_as_it_was
    }

    /// Opens its file, or the sibling to which it was rotated.
    pub(super) fn open(&mut self) -> Result<(), SourceError> {
        let mut follow = Follow::open(&self.path, Until::Polled)?;
        self.cutter.clear();
        if let Some(left) = &self.latest {
            let notice = follow.resume(left)?;
            notice.iter().for_each(|notice| report(&self.path, notice));
            // Held bytes are read again.
            match self.place.offset {
                0 => follow.seek(0)?,
                offset => self.cutter.go_on(&mut follow, offset)?,
            }
        }
        (self.follow, self.marked) = (Some(Box::new(follow)), None);
        Ok(())
    }

    /// Closes its file if the log can be resumed from the recorded state; returns whether it was closed.
    pub(super) fn close(&mut self) -> bool {
        let is_left = self.flight.is_over()
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
    pub(super) fn read(&mut self, common: &Common, outbox: &mut Outbox) -> Result<Read, Unsent> {
        // Recorded before reading: later changes are seen the next time.
        let seen = Look::at(&self.path);
        if self.follow.is_none()
            && let Err(error) = self.open()
        {
            return Ok(Read::Lost(error));
        }
        for _ in 0..CHUNKS {
            let Self { number, name, told, format, place, ended, cutter, follow, flight, .. } =
                self;
            let Some(reading) = follow else { break };
            let created = (*place == Place::default()).then(|| created(&self.path)).flatten();
            let mut give = |bytes: &[u8]| {
                let piece = Piece {
                    source: name.clone(),
                    place: *place,
                    format,
                    path: told,
                    host: &common.host,
                    task: common.task.as_deref(),
                    before: ended.filter(|_| place.offset == 0),
                    created: created.filter(|_| *place == Place::default()),
                    is_end: false,
                    bytes,
                };
                outbox.send(&piece, Ticket { log: *number, piece: flight.next() })?;
                *place = place.after(bytes.len());
                flight.sent(*place);
                Ok::<_, Unsent>(())
            };
            let step = match reading.step() {
                Ok(step) => step,
                Err(error) => return Ok(Read::Lost(error)),
            };
            let next = match step {
                Step::Bytes(bytes) => {
                    self.is_complete = false;
                    self.last_change = Instant::now();
                    cutter.push(bytes, &mut give)?;
                    if cutter.has_too_long() {
                        let path = &self.shown;
                        say(&format!("{path}: a line too long to be searched is masked entirely"));
                    }
                    None
                }
                Step::Notice(notice) => {
                    report(&self.path, &notice);
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
                report(&self.path, &notice);
                self.next_file(&notice);
            }
        }
        if self.marked.is_none_or(|(_, at)| at.elapsed() >= INTERVAL) {
            self.mark().map_err(failed)?;
        }
        Ok(Read::More)
    }

    /// The log continues in another file.
    fn next_file(&mut self, notice: &Notice) {
        // A truncated file is itself read again.
        let left = self.current.take().filter(|_| !matches!(notice, Notice::Truncated { .. }));
        self.before.extend(left);
        self.latest = None;
        self.ended = Some(self.place.offset);
        self.place = Place { file: self.place.file + 1, offset: 0 };
        (self.marked, self.last_change) = (None, Instant::now());
    }

    /// Marks the position up to which everything was sent, to resume from there.
    fn mark(&mut self) -> Result<(), SourceError> {
        let is_begun = self.place.offset > 0;
        let is_marked = self.marked.is_some_and(|(place, _)| place == self.place);
        // Empty beginnings of files are all alike: the held bytes identify the file.
        let end = if is_begun { self.place.offset } else { self.cutter.held() };
        if (is_marked && is_begun) || end == 0 {
            return Ok(());
        }
        let Some(follow) = &mut self.follow else { return Ok(()) };
        // If it was truncated in the meantime, the next step reports it.
        let Some(identity) = follow.identity(end)? else { return Ok(()) };
        (self.current, self.latest) = (Some(Before::of(&identity)), Some(identity));
        self.marked = Some((self.place, Instant::now()));
        if is_begun {
            self.marks.push_back((self.place, identity));
        }
        Ok(())
    }

    /// Advances to the last mark before which everything was acknowledged; returns whether there is one.
    pub(super) fn settle(&mut self) -> bool {
        let mut is_further = false;
        while let Some((place, _)) = self.marks.front()
            && self.flight.is_past(*place)
        {
            self.stored = self.marks.pop_front();
            is_further = true;
        }
        is_further
    }

    /// Marks the position at the end of the run.
    pub(super) fn mark_now(&mut self) -> Result<(), Error> {
        Ok(self.mark()?)
    }

    /// Declares the log complete: sends the held bytes and an end message.
    pub(super) fn finish(&mut self, common: &Common, outbox: &mut Outbox) -> Result<(), Unsent> {
        if self.is_complete {
            return Ok(());
        }
        let Self { number, name, told, format, place, cutter, flight, .. } = self;
        let mut give = |bytes: &[u8], is_end| {
            let piece = Piece {
                source: name.clone(),
                place: *place,
                format,
                path: told,
                host: &common.host,
                task: common.task.as_deref(),
                before: None,
                created: None,
                is_end,
                bytes,
            };
            outbox.send(&piece, Ticket { log: *number, piece: flight.next() })?;
            *place = place.after(bytes.len());
            flight.sent(*place);
            Ok::<_, Unsent>(())
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

    /// Whether the file at this path is a copy of the data read from this log, made before the log is truncated.
    pub(super) fn has_copy(&self, path: &Path) -> bool {
        let Some(latest) = self.latest.filter(|latest| latest.read.length >= CERTAIN) else {
            return false;
        };
        let is_alike = || LogFile::open_regular(path)?.starts_with(&latest);
        rotated_files(&self.path).is_ok_and(|rotated| rotated.iter().any(|one| one == path))
            && is_alike().unwrap_or(false)
    }
}

/// Reports a change of the file of a log.
fn report(path: &Path, notice: &Notice) {
    say(&format!("{} {notice}", path.display()));
}

fn failed(error: SourceError) -> Unsent {
    Unsent::Failed(error.into())
}
