//! [`Follow`]: a log that is still being written.

mod rotation;

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
    regular::first_line,
    status::{Number, milliseconds, number},
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
    /// The file that was left for this one.
    left: Option<Identity>,
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
        Self::of(LogFile::open_regular(path)?, until)
    }

    /// Follows an open file.
    pub(super) fn of(file: LogFile, until: Until) -> Result<Self, SourceError> {
        let path = file.path().to_owned();
        let mut follow = Self {
            path,
            until,
            stop: Arc::default(),
            file,
            is_rotated: false,
            left: None,
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

    /// Names the file that was read to its end before this one, by an identity of it. Resuming this one distinguishes it
    /// from a copy of it that begins alike, which was made after that file was rotated.
    #[must_use]
    pub fn after(self, previous: Identity) -> Self {
        Self { left: Some(previous), ..self }
    }

    /// What was read of the file before this one, if there is one and it was not truncated.
    pub fn previous(&self) -> Option<&Identity> {
        self.left.as_ref()
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

    /// The identity of the current file after `read` bytes; `None` if it was truncated or rewritten, which the next
    /// step reports.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn identity(&mut self, read: u64) -> Result<Option<Identity>, SourceError> {
        if self.truncated.is_some() {
            return Ok(None);
        }
        let identity = self.file.identity(read)?;
        // Checked last, as other content may have been read.
        Ok(if self.has_read()? { identity } else { None })
    }

    /// The identity of the data that was read from the current file, without a digest of all of it. It is known even
    /// if the file has been truncated since.
    ///
    /// # Errors
    /// The metadata of the file cannot be read.
    pub fn identity_so_far(&self) -> Result<Identity, SourceError> {
        let status = self.file.status()?.unwrap_or_default();
        let read = Extent::of_edges(self.file.offset(), &self.head, &self.tail);
        // The present size and time may be those of other content.
        let (size, modified) = (self.length, self.modified.and_then(milliseconds));
        let first_line = Some(first_line(&self.head));
        Ok(Identity { size, modified, changed: None, read, first_line, ..status })
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
        if self.file.is_rewritten()
            && let Some(look) = self.look_again()?
        {
            return Ok(look);
        }
        let offset = self.file.offset();
        let (length, modified) = self.status()?;
        let is_touched = length != offset || modified != self.modified;
        if length < offset
            || (is_touched && !self.is_as_it_was()?)
            || (is_touched && self.was_copied(length)?)
        {
            return self.was_truncated();
        }
        let read = self.file.fill_next()?;
        if read > 0 {
            // The file may have been truncated, and written again, after its metadata was read.
            self.file.seek(offset)?;
            if !self.has_read()? {
                return self.was_truncated();
            }
            // While this file was empty, it may have been written, copied and truncated.
            if let Some(left) = self.left
                && offset == 0
                && !self.copies()?.is_empty()
            {
                return self.next_file(left);
            }
            self.file.seek(offset + read as u64)?;
            self.remember(read);
            (self.length, self.modified, self.quiet_since) = (length, modified, None);
            return Ok(Look::Bytes(read));
        }
        (self.length, self.modified) = (length, modified);
        let is_ending = self.until == Until::EndOfFile;
        if (is_ending && !self.is_rotated) || self.file.is_rewritten() {
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
        let here = self.identity_so_far()?;
        self.next_file(here)
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

    /// Like [`Self::is_as_it_was`], for every read: compressed files are not written while they are read.
    fn has_read(&mut self) -> Result<bool, SourceError> {
        Ok(self.file.is_compressed() || self.is_as_it_was()?)
    }

    /// Records the edges of the data that was read.
    fn remember(&mut self, length: usize) {
        let read = &self.file.chunk()[..length];
        self.head.extend_from_slice(&read[..length.min(Extent::EDGE - self.head.len())]);
        self.tail.extend_from_slice(&read[length.saturating_sub(Extent::EDGE)..]);
        self.tail.drain(..self.tail.len().saturating_sub(Extent::EDGE));
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
