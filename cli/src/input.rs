//! Logs as the program reads them: files and standard input.

use std::path::Path;

use super::error::Error;
use foldline::{
    executors::{DynExecutor, Format, Recogniser, Registry, Verdict},
    processor::{Line, LineFramer, read_records},
    source::LogFile,
};

/// How much is read at the most to recognise the format.
const RECOGNISE: usize = 16 << 20;

/// A log that is being read.
pub(super) struct Input {
    log: LogFile,
    max_line: usize,
    /// Its length, if it is a file.
    pub(super) length: Option<u64>,
}

impl Input {
    pub(super) fn open(path: &Path, max_line: usize) -> Result<Self, Error> {
        match path == Path::new("-") {
            true => Self::new(LogFile::stdin(), max_line),
            false => Self::new(LogFile::open(path)?, max_line),
        }
    }

    /// A log that was opened already.
    pub(super) fn new(log: LogFile, max_line: usize) -> Result<Self, Error> {
        let length = log.length()?;
        Ok(Self { log, max_line, length })
    }

    /// The log itself.
    pub(super) fn log_mut(&mut self) -> &mut LogFile {
        &mut self.log
    }

    /// The executor for this log: the one with this name, or for `auto` the one whose format the
    /// first lines are of.
    pub(super) fn executor(&mut self, name: &str) -> Result<DynExecutor, Error> {
        match Registry::builtin().named(name) {
            Some(executor) => Ok(executor.clone()),
            None => executor_of(self.recognise()?, self.log.path()),
        }
    }

    fn recognise(&mut self) -> Result<&'static Format, Error> {
        let mut recognition = Recognition::new(self.max_line);
        loop {
            let bytes = self.log.read_ahead()?;
            let is_end = bytes.is_empty();
            if let Some(format) = recognition.push(bytes) {
                return Ok(format);
            }
            if is_end || recognition.is_hopeless() {
                return Err(recognition.failure(self.log.path()));
            }
        }
    }

    /// Reads on until the end, and gives out the bytes as they come. `each` may stop it early.
    pub(super) fn read_all(
        &mut self,
        mut each: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            match self.log.read()? {
                [] => return Ok(()),
                bytes => each(bytes)?,
            }
        }
    }
}

/// Looks at the beginning of a log until its format is known.
pub(super) struct Recognition {
    recogniser: Recogniser,
    framer: LineFramer,
    records: usize,
    bytes: usize,
}

impl Recognition {
    pub(super) fn new(max_line: usize) -> Self {
        let framer = LineFramer::new(max_line.min(RECOGNISE));
        Self { recogniser: Registry::builtin().recogniser(), framer, records: 0, bytes: 0 }
    }

    /// Takes the next bytes, none at the end; gives the format as soon as it is known.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<&'static Format> {
        let Self { recogniser, framer, records, .. } = self;
        let mut observe = |frame: Line<'_>| {
            read_records(frame, |record| {
                if !recogniser.verdict().is_final() {
                    recogniser.observe(&record.item);
                    *records += 1;
                }
            });
        };
        framer.push(bytes, &mut observe);
        if bytes.is_empty() {
            framer.finish(&mut observe);
        }
        self.bytes += bytes.len();
        let is_last = bytes.is_empty() || self.bytes > RECOGNISE;
        match self.recogniser.verdict() {
            Verdict::Certain(format) => Some(format),
            // Later records may still prove it, or another.
            Verdict::Likely(format) if is_last => Some(format),
            _ => None,
        }
    }

    /// Whether reading on is of no use.
    pub(super) fn is_hopeless(&self) -> bool {
        self.bytes > RECOGNISE || self.recogniser.verdict().is_final()
    }

    pub(super) fn failure(&self, path: &Path) -> Error {
        let path = path.to_owned();
        match self.recogniser.verdict() {
            Verdict::Disputed(formats) => Error::Disputed { path, formats: names(formats) },
            _ => Error::Unrecognised { path, records: self.records, known: readable() },
        }
    }
}

/// The executor for a format.
pub(super) fn executor_of(format: &'static Format, path: &Path) -> Result<DynExecutor, Error> {
    Registry::builtin().named(format.name).cloned().ok_or_else(|| Error::Unsupported {
        path: path.to_owned(),
        format,
        supported: readable(),
    })
}

/// The names of the formats that can be read: what `--executor` accepts.
fn readable() -> String {
    names(Registry::builtin().iter().map(DynExecutor::format))
}

fn names(formats: impl IntoIterator<Item = &'static Format>) -> String {
    formats.into_iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}
