//! [`Follow`]: a log that is still being written.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use tracing::{Span, debug, warn};

use super::{
    LogFile, Notice, SourceError, Step, Until,
    log_file::span,
    rotated,
    status::{Number, number},
    watch::Watch,
};
use crate::ledger::{Extent, Identity};

/// The polling interval where the system does not notify of changes.
const POLL: Duration = Duration::from_millis(100);

/// How long a rotated file must be quiet before it is left.
const GRACE: Duration = Duration::from_millis(100);

/// Reads a log to its end, and continues as it grows, is renamed, replaced or truncated; the [module](crate::source)
/// lists the cases.
///
/// ```
/// use std::{fs, io::Write, time::Duration};
///
/// use foldline::source::{Follow, Notice, Step, Until};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("session.jsonl");
/// fs::write(&path, "one\n")?;
///
/// let mut follow = Follow::open(&path, Until::Idle(Duration::from_millis(300)))?;
/// let mut text = String::new();
/// loop {
///     match follow.step()? {
///         Step::Bytes(bytes) => {
///             text.push_str(std::str::from_utf8(bytes)?);
///             if text == "one\n" {
///                 // The log is rotated.
///                 fs::rename(&path, folder.path().join("session.jsonl.1"))?;
///                 fs::write(&path, "two\n")?;
///             }
///         }
///         // The rest of a line without end ends here.
///         Step::NextFile(notice) => assert_eq!(notice, Notice::Replaced { may_have_gap: false }),
///         Step::Notice(notice) => println!("the log {notice}"),
///         Step::Idle => {}
///         Step::End => break,
///     }
/// }
/// # #[cfg(unix)]
/// assert_eq!(text, "one\ntwo\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    until: Until,
    stop: Arc<AtomicBool>,
    /// The current file, which may have been renamed.
    file: LogFile,
    /// It already was a rotated file when it was opened.
    is_rotated: bool,
    /// Its length and modification time when it was last checked.
    length: u64,
    modified: Option<SystemTime>,
    /// The first and the last bytes read from it.
    head: Vec<u8>,
    tail: Vec<u8>,
    /// The time of the last data or event.
    last_change: Instant,
    /// Since when another file has the log's name while this one was quiet.
    quiet_since: Option<Instant>,
    /// `None` if no step waits for changes.
    watch: Option<Watch>,
    /// The file was truncated before it was resumed; the next step reports this.
    truncated: Option<Notice>,
}

/// The result of checking the log once.
enum Look {
    /// The number of bytes read.
    Bytes(usize),
    Notice(Notice),
    NextFile(Notice),
    /// There is no new data, and this file is about to be left for another.
    Leaving,
    Nothing,
}

impl Follow {
    /// Opens a log.
    ///
    /// # Errors
    /// It cannot be opened, or is not a regular file.
    pub fn open(path: impl Into<PathBuf>, until: Until) -> Result<Self, SourceError> {
        let path = path.into();
        let file = LogFile::open_regular(&path)?;
        let mut follow = Self {
            path,
            until,
            stop: Arc::default(),
            file,
            is_rotated: false,
            length: 0,
            modified: None,
            head: Vec::new(),
            tail: Vec::new(),
            last_change: Instant::now(),
            quiet_since: None,
            watch: matches!(until, Until::Idle(_) | Until::Stopped).then(Watch::new),
            truncated: None,
        };
        follow.watch();
        Ok(follow)
    }

    /// Stops following as soon as `stop` is true.
    #[must_use]
    pub fn with_stop(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// The path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A span for all work on this log, with its path; `format` can be recorded later.
    pub fn span(&self) -> Span {
        span(&self.path)
    }

    /// The current file; while the log is being rotated, it has another name than the log.
    pub fn file(&self) -> &LogFile {
        &self.file
    }

    /// The identity of the current file after `read` bytes; `None` if it was truncated to less, which the next step
    /// reports.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn identity(&mut self, read: u64) -> Result<Option<Identity>, SourceError> {
        if self.truncated.is_some() { Ok(None) } else { self.file.identity(read) }
    }

    /// Moves the read position to `offset` of the current file.
    ///
    /// # Errors
    /// It cannot be read, or is shorter.
    pub fn seek(&mut self, offset: u64) -> Result<(), SourceError> {
        let edge = offset.min(Extent::EDGE as u64);
        self.head = self.exactly(0, edge)?;
        self.tail = self.exactly(offset - edge, edge)?;
        (self.length, self.modified) = (offset, None);
        self.file.seek(offset)
    }

    /// Up to `length` bytes at `offset` of the current file. Does not change the read position.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_at(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, SourceError> {
        self.file.read_at(offset, length)
    }

    /// Resumes a log from an earlier run: in this file, or in the sibling to which it was renamed or copied in the
    /// meantime. If the same file was truncated or rewritten in the meantime, and has grown since, it is read from
    /// its beginning, as the next step reports.
    ///
    /// # Errors
    /// [`SourceError::Unrecognised`] if none of this applies; or a read error.
    pub fn resume(&mut self, left: &Identity) -> Result<Option<Notice>, SourceError> {
        let here = self.identity(left.read.length)?;
        let is_alike = here.is_some_and(|here| here.is_alike(left));
        let is_same = self.number()? == (left.device, left.inode);
        let mut notice = None;
        if !(is_alike && is_same) {
            let elsewhere =
                rotated::left_in(&self.path, left).map_err(|error| self.failed(error))?;
            // A file that was restored, or copied here, has the same content and another inode.
            match elsewhere.filter(|(_, found)| !is_alike || found.is_same_file(left)) {
                Some((file, _)) => {
                    notice = Some(Notice::Rotated { to: file.path().to_owned() });
                    self.read_rotated(file);
                }
                None if is_alike => {}
                None if is_same && left.inode.is_some() && self.until != Until::EndOfFile => {
                    let read = left.read.length;
                    let lost = left.size.saturating_sub(read);
                    self.truncated = Some(Notice::Truncated { read, lost });
                    self.seek(0)?;
                    return Ok(None);
                }
                None => {
                    let (path, is_shorter) = (self.path.clone(), here.is_none());
                    return Err(SourceError::Unrecognised { path, is_shorter });
                }
            }
        }
        self.seek(left.read.length)?;
        notice.iter().for_each(|notice| self.log(notice));
        Ok(notice)
    }

    /// The next step. Waits for a moment, at most 100 ms, if there is nothing new.
    ///
    /// # Errors
    /// The log, or its folder, cannot be read.
    pub fn step(&mut self) -> Result<Step<'_>, SourceError> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Step::End);
        }
        let look = match self.truncated.take() {
            Some(notice) => Look::NextFile(notice),
            None => self.look()?,
        };
        if !matches!(look, Look::Nothing | Look::Leaving) {
            self.last_change = Instant::now();
        }
        if let Look::Notice(notice) | Look::NextFile(notice) = &look {
            self.log(notice);
        }
        Ok(match look {
            Look::Bytes(length) => Step::Bytes(&self.file.chunk()[..length]),
            Look::Notice(notice) => Step::Notice(notice),
            Look::NextFile(notice) => Step::NextFile(notice),
            Look::Leaving => self.wait(GRACE),
            Look::Nothing => match self.time_left() {
                Some(left) => self.wait(left),
                None => Step::End,
            },
        })
    }

    /// How long following continues without new data; `None` if it ends.
    fn time_left(&self) -> Option<Duration> {
        let left = match self.until {
            Until::EndOfFile => return None,
            Until::Idle(idle) => idle.saturating_sub(self.last_change.elapsed()),
            Until::Stopped | Until::Polled => POLL,
        };
        (!left.is_zero()).then_some(left)
    }

    fn wait(&self, longest: Duration) -> Step<'_> {
        if let Some(watch) = &self.watch {
            watch.wait(longest.min(POLL));
        }
        Step::Idle
    }

    fn look(&mut self) -> Result<Look, SourceError> {
        let offset = self.file.offset();
        let (length, modified) = self.status()?;
        let is_touched = length != offset || modified != self.modified;
        if length < offset || (is_touched && !self.is_as_it_was()?) {
            return self.was_truncated();
        }
        (self.length, self.modified) = (length, modified);
        let read = self.read()?;
        if read > 0 {
            self.quiet_since = None;
            return Ok(Look::Bytes(read));
        }
        let is_ending = self.until == Until::EndOfFile;
        if is_ending && !self.is_rotated {
            return Ok(Look::Nothing);
        }
        let is_another = match fs::metadata(&self.path) {
            Ok(metadata) => number(&metadata) != self.number()?,
            // It was removed, or is about to be restored.
            Err(_) => self.is_rotated,
        };
        if !is_another {
            return Ok(Look::Nothing);
        }
        // Its writer may still be writing to the old file, which is left after a quiet period.
        let quiet_since = *self.quiet_since.get_or_insert_with(Instant::now);
        if !is_ending && quiet_since.elapsed() < GRACE {
            return Ok(Look::Leaving);
        }
        self.next_file()
    }

    /// The previous content of the file is in its copy, or lost.
    fn was_truncated(&mut self) -> Result<Look, SourceError> {
        let read = Extent::of_edges(self.file.offset(), &self.head, &self.tail);
        let left = Identity { read, ..Identity::default() };
        let copy = rotated::left_in(&self.path, &left).map_err(|error| self.failed(error))?;
        let Some((copy, found)) = copy else {
            let lost = self.length.saturating_sub(read.length);
            self.seek(0)?;
            return Ok(Look::NextFile(Notice::Truncated { read: read.length, lost }));
        };
        let (to, unread) = (copy.path().to_owned(), found.size.saturating_sub(read.length));
        self.read_rotated(copy);
        self.seek(read.length)?;
        Ok(Look::Notice(Notice::Copied { to, unread }))
    }

    /// Leaves the file for the next one that had the log's name.
    fn next_file(&mut self) -> Result<Look, SourceError> {
        let here = self.number()?;
        // The files may be being renamed at this moment: the opened file must be at the path before and after.
        for _ in 0..10 {
            let younger = self.younger_than(here)?;
            let next = younger.as_ref().and_then(|younger| younger.first());
            let path = next.map_or(&self.path, |next| &next.path);
            let file = match LogFile::open_regular(path) {
                Err(error) if error.is_not_found() => break,
                file => file?,
            };
            let found = file.metadata()?.map(|metadata| number(&metadata));
            if next.is_some_and(|next| Some(next.number) != found)
                || self.younger_than(here)? != younger
            {
                continue;
            }
            let notice = match next {
                Some(next) => Notice::RotatedAgain { next: next.path.clone() },
                None => Notice::Replaced { may_have_gap: younger.is_none() },
            };
            (self.file, self.is_rotated, self.quiet_since) = (file, next.is_some(), None);
            self.watch();
            self.seek(0)?;
            return Ok(Look::NextFile(notice));
        }
        Ok(Look::Nothing)
    }

    fn younger_than(&self, number: Number) -> Result<Option<Vec<rotated::Rotated>>, SourceError> {
        rotated::younger_than(&self.path, number).map_err(|error| self.failed(error))
    }

    fn read_rotated(&mut self, file: LogFile) {
        (self.file, self.is_rotated) = (file, true);
        self.watch();
    }

    /// Watches the current file.
    fn watch(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.watch(self.file.path());
        }
    }

    /// Whether the bytes before the offset are unchanged since they were read.
    fn is_as_it_was(&mut self) -> Result<bool, SourceError> {
        let length = self.tail.len();
        let found = self.file.read_at(self.file.offset() - length as u64, length)?;
        Ok(found == self.tail)
    }

    fn read(&mut self) -> Result<usize, SourceError> {
        let length = self.file.fill_next()?;
        let read = &self.file.chunk()[..length];
        self.head.extend_from_slice(&read[..length.min(Extent::EDGE - self.head.len())]);
        self.tail.extend_from_slice(&read[length.saturating_sub(Extent::EDGE)..]);
        self.tail.drain(..self.tail.len().saturating_sub(Extent::EDGE));
        Ok(length)
    }

    /// Exactly `length` bytes at `offset`.
    fn exactly(&mut self, offset: u64, length: u64) -> Result<Vec<u8>, SourceError> {
        let bytes = self.file.read_at(offset, length as usize)?;
        match bytes.len() as u64 == length {
            true => Ok(bytes),
            false => Err(self.failed(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// The length of the current file's content, and its modification time.
    fn status(&self) -> Result<(u64, Option<SystemTime>), SourceError> {
        let metadata = self.file.metadata()?;
        let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
        Ok((self.file.length()?.unwrap_or_default(), modified))
    }

    fn number(&self) -> Result<Number, SourceError> {
        Ok(self.file.metadata()?.map_or((None, None), |metadata| number(&metadata)))
    }

    fn log(&self, notice: &Notice) {
        let path = &self.path;
        if notice.may_lose() {
            warn!(?path, ?notice, "the log was changed, and a part may be lost");
        } else {
            debug!(?path, ?notice, "the log was changed");
        }
    }

    fn failed(&self, error: io::Error) -> SourceError {
        self.file.failed(error)
    }
}
