//! [`Log`]: a log that is read once or followed; and its executor.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

use foldline::{
    ledger::Identity,
    processor::{Line, LineFramer, read_inputs},
    source::{Follow, LogFile, Notice, Openers, SourceError, Step, Until},
};
use foldline_agents::{DynExecutor, Format, Recogniser, Records, Registry, Verdict};
use foldline_render::terminal::neutralise_line;
use tracing::level_filters::LevelFilter;

use crate::{
    error::{Error, NoLog},
    say::say,
    signal::stop_flag,
};

/// The most bytes that are read to recognise the format, beside the first line.
const RECOGNISE: usize = 16 << 20;

/// The size in bytes from which a log is read on two threads.
const WORTH_TWO_THREADS: u64 = 1 << 20;

/// The magic bytes of SQLite files.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A log that is being read.
pub enum Log {
    /// A log that is read to its current end.
    Once(Box<LogFile>),
    /// A log that is followed as it grows, is rotated or replaced.
    Followed(Box<Follow>),
}

impl Log {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(openers: &Openers, path: &Path) -> Result<Self, Error> {
        let file = match path == Path::new("-") {
            true => LogFile::stdin(),
            false => named(path, |path| openers.open(path))?,
        };
        Ok(Self::Once(Box::new(file)))
    }

    /// Opens a regular file. Never blocks, unlike opening a pipe.
    pub(crate) fn open_regular(openers: &Openers, path: &Path) -> Result<Self, Error> {
        Ok(Self::Once(Box::new(openers.open_regular(path)?)))
    }

    /// Follows a file until the end condition, or until Ctrl-C.
    pub(crate) fn follow(openers: &Openers, path: &Path, until: Until) -> Result<Self, Error> {
        let follow = named(path, |path| openers.follow(path, until))?.with_stop(stop_flag()?);
        Ok(Self::Followed(Box::new(follow)))
    }

    /// The path of the log.
    pub fn path(&self) -> &Path {
        match self {
            Self::Once(file) => file.path(),
            Self::Followed(follow) => follow.path(),
        }
    }

    /// The file, if it is read faster on two threads: a long one, or one of unknown length.
    pub(crate) fn worth_two_threads(&mut self) -> Option<&mut LogFile> {
        let Self::Once(file) = self else { return None };
        let length = file.length().ok().flatten();
        let is_long = length.is_none_or(|length| length >= WORTH_TWO_THREADS);
        // `tracing` lines of the reducer belong to the session of the previous event, which must be emitted first.
        let is_traced = LevelFilter::current() >= LevelFilter::INFO;
        let has_two = || thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        (is_long && !is_traced && has_two()).then_some(file)
    }

    /// The `tracing` span for everything that is read from the log.
    pub fn span(&self) -> tracing::Span {
        match self {
            Self::Once(file) => file.span().clone(),
            Self::Followed(follow) => follow.span().clone(),
        }
    }

    /// The number of bytes that can be read now.
    pub(crate) fn step(&mut self) -> Result<Step<'_>, SourceError> {
        match self {
            Self::Once(file) => Ok(match file.read()? {
                [] => Step::End,
                bytes => Step::Bytes(bytes),
            }),
            Self::Followed(follow) => follow.step(),
        }
    }

    /// The identity of the file.
    pub(crate) fn identity(&mut self, read: u64) -> Result<Option<Identity>, SourceError> {
        match self {
            Self::Once(file) => file.identity(read),
            Self::Followed(follow) => follow.identity(read),
        }
    }

    /// Reports changes of the log file on standard error.
    pub fn report(path: &Path, notice: &Notice) {
        report(path, notice);
    }

    /// The executor with this name, or for `auto` the executor that recognizes the file name and the first
    /// records of the log. Consumes nothing.
    ///
    /// # Errors
    /// It cannot be read or recognised.
    pub fn executor(
        &mut self,
        registry: &Registry,
        name: &str,
        max_line: usize,
    ) -> Result<DynExecutor, Error> {
        if let Some(executor) = registry.named(name) {
            return Ok(executor.of_file(self.path(), &beside));
        }
        let mut recognition = Recognition::new(registry, self.path(), max_line);
        loop {
            if let Some(executor) = self.recognise(&mut recognition)? {
                return Ok(executor);
            }
        }
    }

    /// Reads the next bytes for the recognition of the format. Returns the executor when it is known; then the log is at
    /// its beginning again. Waits for a moment if there is nothing new in a log that is followed.
    ///
    /// # Errors
    /// It cannot be read or recognised.
    pub fn recognise(
        &mut self,
        recognition: &mut Recognition<'_>,
    ) -> Result<Option<DynExecutor>, Error> {
        let found = match self {
            Self::Once(file) => {
                let bytes = file.read_ahead()?;
                recognition.push(bytes, bytes.is_empty())?
            }
            Self::Followed(follow) => {
                let found = recognise_followed(follow, recognition)?;
                if found.is_some() {
                    follow.seek(0)?;
                }
                found
            }
        };
        Ok(found.map(|executor| executor.of_file(self.path(), &beside)))
    }
}

/// The text of a file beside a log. A file that is larger than what states facts of a session is no such file.
fn beside(path: &Path) -> Option<String> {
    const LONGEST: u64 = 1 << 20;
    let file = fs::metadata(path).ok().filter(|file| file.is_file() && file.len() <= LONGEST);
    file.and_then(|_| fs::read_to_string(path).ok())
}

/// Opens a file that the user named. All verbs report missing files and folders with the same messages.
pub(crate) fn named<T>(
    path: &Path,
    open: impl FnOnce(&Path) -> Result<T, SourceError>,
) -> Result<T, Error> {
    if path.is_dir() {
        return Err(Error::NotALog { path: path.to_owned(), why: NoLog::Folder });
    }
    open(path).map_err(|error| match error.is_not_found() {
        true => Error::NoFile(path.to_owned()),
        false => error.into(),
    })
}

fn recognise_followed(
    follow: &mut Follow,
    recognition: &mut Recognition<'_>,
) -> Result<Option<DynExecutor>, Error> {
    match follow.step()? {
        Step::Bytes(bytes) => return recognition.push(bytes, false),
        Step::End => return recognition.push(&[], true),
        Step::Notice(notice) => report(&recognition.path, &notice),
        Step::NextFile(notice) => {
            report(&recognition.path, &notice);
            let what = "is read from there on: the lines before did not identify the agent";
            report(&recognition.path, &what);
            recognition.begin_again();
        }
        Step::Idle => {}
    }
    Ok(None)
}

fn report(path: &Path, what: &dyn std::fmt::Display) {
    say(&neutralise_line(&format!("{} {what}", path.display())));
}

/// Reads the beginning of a log until its format is known.
pub struct Recognition<'r> {
    registry: &'r Registry,
    path: PathBuf,
    recogniser: Recogniser,
    framer: LineFramer,
    max_line: usize,
    /// Whether a byte occurred that is not in texts.
    is_binary: bool,
    bytes: usize,
    /// The length of the first lines, up to the first one that was read.
    first: Option<usize>,
}

impl<'r> Recognition<'r> {
    /// Creates a recognizer for the log at this path. A line longer than `max_line` bytes is ignored.
    pub fn new(registry: &'r Registry, path: &Path, max_line: usize) -> Self {
        Self {
            registry,
            path: path.to_owned(),
            recogniser: registry.recogniser(),
            framer: LineFramer::new(max_line.min(RECOGNISE)),
            max_line,
            is_binary: false,
            bytes: 0,
            first: None,
        }
    }

    fn begin_again(&mut self) {
        *self = Self::new(self.registry, &self.path, self.max_line);
    }

    /// Adds bytes; returns the executor when it is known. `is_end` marks the last bytes, so the result is final.
    ///
    /// # Errors
    /// The format is unrecognizable, whatever follows; or it has no executor.
    pub fn push(&mut self, bytes: &[u8], is_end: bool) -> Result<Option<DynExecutor>, Error> {
        if self.bytes == 0 && bytes.starts_with(SQLITE) {
            // The application id in the header of SQLite's files.
            let is_own = bytes.get(68..72) == Some(b"fold".as_slice());
            return Err(self.no_log(if is_own { NoLog::Database } else { NoLog::ForeignDatabase }));
        }
        let Self { recogniser, framer, first, .. } = self;
        let read = self.bytes + bytes.len();
        let mut observe = |line: Line<'_>| {
            first.get_or_insert(read);
            // Stops early: a chunk contains many lines, and the first often decides.
            if !recogniser.verdict().is_final() {
                read_inputs(line, &Records, |record| recogniser.observe(&record.item));
            }
        };
        framer.push(bytes, &mut observe);
        if is_end {
            framer.finish(&mut observe);
        }
        self.bytes = read;
        // Only a failure says so.
        if !matches!(self.recogniser.verdict(), Verdict::Certain(_)) {
            self.is_binary |= bytes.contains(&0);
        }
        // A first line of any length may be a record with pictures, unless it is binary.
        let first = self.first.unwrap_or(if self.is_binary { 0 } else { self.bytes });
        let is_last = is_end || self.bytes - first > RECOGNISE;
        match self.recogniser.verdict() {
            Verdict::Certain(format) => self.executor_of(format).map(Some),
            // Later records may still decide the format.
            Verdict::Likely(format) if is_last => self.executor_of(format).map(Some),
            verdict if is_last || verdict.is_final() => Err(self.failure()),
            _ => Ok(None),
        }
    }

    fn executor_of(&self, format: &'static Format) -> Result<DynExecutor, Error> {
        self.registry.named(format.name).cloned().ok_or_else(|| Error::Unsupported {
            path: self.path.clone(),
            format,
            supported: names(self.registry.iter().map(DynExecutor::format)),
        })
    }

    fn no_log(&self, why: NoLog) -> Error {
        Error::NotALog { path: self.path.clone(), why }
    }

    fn failure(&self) -> Error {
        let path = self.path.clone();
        match self.recogniser.verdict() {
            Verdict::Disputed(formats) => Error::Disputed { path, formats: names(formats) },
            _ if self.bytes == 0 => self.no_log(NoLog::Empty),
            _ if self.is_binary => self.no_log(NoLog::Binary),
            _ if is_opencode_storage(&self.path) => self.no_log(NoLog::OpencodeStorage),
            _ => {
                let known = names(self.registry.iter().map(DynExecutor::format));
                Error::Unrecognised { path, known }
            }
        }
    }
}

/// Whether a path is that of a message or a part in the folder where opencode kept each in its own file.
fn is_opencode_storage(path: &Path) -> bool {
    let mut folders = path.ancestors().skip(1).filter_map(|folder| folder.file_name());
    let is_below = folders.any(|name| name == "message" || name == "part");
    is_below && folders.next().is_some_and(|name| name == "storage")
}

fn names(formats: impl IntoIterator<Item = &'static Format>) -> String {
    formats.into_iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}
