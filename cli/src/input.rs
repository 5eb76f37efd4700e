//! Logs as the program reads them: files and standard input.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use super::error::Error;
use foldline::{
    executors::{
        Executor, Format,
        recognise::{Recogniser, Verdict},
    },
    processor::{DEFAULT_MAX_LINE, Line, LineFramer, read_records},
};

/// How many bytes are read at once.
const CHUNK: usize = 256 << 10;

/// How much is read at the most to recognise the format.
const RECOGNISE: usize = 16 << 20;

/// A log that is being read.
pub(super) struct Input<'p> {
    path: &'p Path,
    reader: Reader,
    max_line: usize,
    /// What was read to recognise the format of what cannot be read again.
    ahead: Vec<u8>,
    chunk: Vec<u8>,
    /// Its length, if it is a file.
    pub(super) length: Option<u64>,
}

enum Reader {
    /// Can be read again from where it was begun.
    File {
        file: File,
        begun: u64,
    },
    Stream(Box<dyn Read>),
}

impl<'p> Input<'p> {
    pub(super) fn open(path: &'p Path, max_line: usize) -> Result<Self, Error> {
        let fail = |error| Error::Input { path: path.to_owned(), error };
        let (reader, length) = if path == Path::new("-") {
            (Reader::Stream(Box::new(io::stdin())), None)
        } else {
            let file = File::open(path).map_err(fail)?;
            let metadata = file.metadata().map_err(fail)?;
            if metadata.is_dir() {
                return Err(fail(io::ErrorKind::IsADirectory.into()));
            }
            match metadata.is_file() {
                true => (Reader::File { file, begun: 0 }, Some(metadata.len())),
                false => (Reader::Stream(Box::new(file)), None),
            }
        };
        Ok(Self { path, reader, max_line, ahead: Vec::new(), chunk: vec![0; CHUNK], length })
    }

    /// Opens a file and skips what stands before `offset`.
    pub(super) fn open_at(path: &'p Path, offset: u64) -> Result<Self, Error> {
        let fail = |error| Error::Input { path: path.to_owned(), error };
        let mut file = File::open(path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        file.seek(SeekFrom::Start(offset)).map_err(fail)?;
        let reader = Reader::File { file, begun: offset };
        let (max_line, length) = (DEFAULT_MAX_LINE, Some(length.saturating_sub(offset)));
        Ok(Self { path, reader, max_line, ahead: Vec::new(), chunk: vec![0; CHUNK], length })
    }

    /// The executor for this log: the one with this name, or for `auto` the one whose format the
    /// first lines are of.
    pub(super) fn executor(&mut self, name: &str) -> Result<Executor, Error> {
        let format = match Format::from_name(name) {
            Some(format) => format,
            None => self.recognise()?,
        };
        executor_of(format, self.path)
    }

    fn recognise(&mut self) -> Result<Format, Error> {
        let mut recognition = Recognition::new(self.max_line);
        loop {
            let length = self.read()?;
            let bytes = &self.chunk[..length];
            let format = recognition.push(bytes);
            if let Reader::Stream(_) = self.reader {
                self.ahead.extend_from_slice(bytes);
            }
            if let Some(format) = format {
                self.rewind()?;
                return Ok(format);
            }
            if length == 0 || recognition.is_hopeless() {
                return Err(recognition.failure(self.path));
            }
        }
    }

    fn rewind(&mut self) -> Result<(), Error> {
        let Reader::File { file, begun } = &mut self.reader else { return Ok(()) };
        let failed = |error| Error::Input { path: self.path.to_owned(), error };
        file.seek(SeekFrom::Start(*begun)).map(drop).map_err(failed)
    }

    /// Reads on until the end, and gives out the bytes as they come. `each` may stop it early.
    pub(super) fn read_all(
        &mut self,
        mut each: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        each(&std::mem::take(&mut self.ahead))?;
        loop {
            let length = self.read()?;
            if length == 0 {
                return Ok(());
            }
            each(&self.chunk[..length])?;
        }
    }

    fn read(&mut self) -> Result<usize, Error> {
        loop {
            let read = match &mut self.reader {
                Reader::File { file, .. } => file.read(&mut self.chunk),
                Reader::Stream(stream) => stream.read(&mut self.chunk),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::Input { path: self.path.to_owned(), error }),
                Ok(length) => return Ok(length),
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
        Self { recogniser: Recogniser::default(), framer, records: 0, bytes: 0 }
    }

    /// Takes the next bytes, none at the end; gives the format as soon as it is known.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<Format> {
        let Self { recogniser, framer, records, .. } = self;
        let mut observe = |frame: Line<'_>| {
            read_records(frame, |record| {
                if let Verdict::Undecided = recogniser.verdict() {
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
        match self.recogniser.verdict() {
            Verdict::Certain(format) => Some(format),
            Verdict::Undecided | Verdict::Contradictory => None,
        }
    }

    /// Whether reading on is of no use.
    pub(super) fn is_hopeless(&self) -> bool {
        self.bytes > RECOGNISE || self.recogniser.verdict() == Verdict::Contradictory
    }

    pub(super) fn failure(&self, path: &Path) -> Error {
        let known = names(&Format::ALL);
        Error::Unrecognised { path: path.to_owned(), records: self.records, known }
    }
}

/// The executor for a format.
pub(super) fn executor_of(format: Format, path: &Path) -> Result<Executor, Error> {
    Executor::of(format).ok_or_else(|| Error::Unsupported {
        path: path.to_owned(),
        format,
        supported: names(Executor::FORMATS),
    })
}

fn names(formats: &[Format]) -> String {
    formats.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}
