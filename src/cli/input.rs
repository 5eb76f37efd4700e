//! Logs as the program reads them: files and standard input.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use super::error::Error;
use crate::{
    executors::{
        Executor, Format,
        recognise::{Recogniser, Verdict},
    },
    processor::{Frame, LineFramer, read_records},
};

/// How many bytes are read at once.
const CHUNK: usize = 256 << 10;

/// How much is read at the most to recognise the format.
const RECOGNISE: usize = 16 << 20;

/// A log that is being read.
pub(super) struct Input<'p> {
    path: &'p Path,
    reader: Box<dyn Read>,
    /// What was read to recognise the format, and is still to be given out.
    ahead: Vec<u8>,
    chunk: Vec<u8>,
    /// Its length, if it is a file.
    pub(super) length: Option<u64>,
}

impl<'p> Input<'p> {
    pub(super) fn open(path: &'p Path) -> Result<Self, Error> {
        let fail = |error| Error::Input { path: path.to_owned(), error };
        let (reader, length): (Box<dyn Read>, _) = if path == Path::new("-") {
            (Box::new(io::stdin()), None)
        } else {
            let file = File::open(path).map_err(fail)?;
            let metadata = file.metadata().map_err(fail)?;
            if metadata.is_dir() {
                return Err(fail(io::ErrorKind::IsADirectory.into()));
            }
            (Box::new(file), metadata.is_file().then_some(metadata.len()))
        };
        Ok(Self { path, reader, ahead: Vec::new(), chunk: vec![0; CHUNK], length })
    }

    /// Opens a file and skips what stands before `offset`.
    pub(super) fn open_at(path: &'p Path, offset: u64) -> Result<Self, Error> {
        let fail = |error| Error::Input { path: path.to_owned(), error };
        let mut file = File::open(path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        file.seek(SeekFrom::Start(offset)).map_err(fail)?;
        let (reader, length) = (Box::new(file), Some(length.saturating_sub(offset)));
        Ok(Self { path, reader, ahead: Vec::new(), chunk: vec![0; CHUNK], length })
    }

    /// The executor for this log: the one with this name, or for `auto` the one whose format the
    /// first lines are of.
    pub(super) fn executor(&mut self, name: &str) -> Result<Executor, Error> {
        let format = match Format::from_name(name) {
            Some(format) => format,
            None => self.recognise()?,
        };
        Executor::of(format).ok_or_else(|| Error::Unsupported {
            path: self.path.to_owned(),
            format,
            supported: names(Executor::FORMATS),
        })
    }

    fn recognise(&mut self) -> Result<Format, Error> {
        let mut recogniser = Recogniser::default();
        let mut framer = LineFramer::default();
        let mut records = 0;
        loop {
            let length = self.read()?;
            let bytes = &self.chunk[..length];
            let mut observe = |frame: Frame<'_>| {
                read_records(frame, |record| {
                    if let Verdict::Undecided = recogniser.verdict() {
                        recogniser.observe(&record.item);
                        records += 1;
                    }
                });
            };
            framer.push(bytes, &mut observe);
            if bytes.is_empty() {
                framer.finish(&mut observe);
            }
            self.ahead.extend_from_slice(bytes);
            match recogniser.verdict() {
                Verdict::Certain(format) => return Ok(format),
                Verdict::Undecided if length > 0 && self.ahead.len() <= RECOGNISE => {}
                Verdict::Undecided | Verdict::Contradictory => {
                    let known = names(&Format::ALL);
                    return Err(Error::Unrecognised { path: self.path.to_owned(), records, known });
                }
            }
        }
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
            match self.reader.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::Input { path: self.path.to_owned(), error }),
                Ok(length) => return Ok(length),
            }
        }
    }
}

fn names(formats: &[Format]) -> String {
    formats.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}
