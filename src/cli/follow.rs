//! [`Follow`]: a log that is still being written.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::{
    checkpoint::{identity, number},
    error::Error,
};
use crate::processor::SourceIdentity;

/// How often a log is looked at for news.
const POLL: Duration = Duration::from_millis(100);

/// How many bytes are read at once.
const CHUNK: usize = 64 << 10;

/// How many of the last bytes read are compared before more are read.
const TAIL: usize = 64;

/// Whether somebody asked the program to end.
static STOP: AtomicBool = AtomicBool::new(false);

/// From now on, Ctrl-C and SIGTERM end the following, and not the program at once.
pub(super) fn end_on_signals() -> Result<(), Error> {
    ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed))
        .map_err(|error| Error::Output(io::Error::other(error)))
}

/// When to end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// At the end of the file as it is.
    End,
    /// When asked to, or after this time without news.
    Asked {
        /// The time.
        idle: Option<Duration>,
    },
}

/// Reads a file to its end, and on as it grows, is renamed, replaced or cut.
///
/// It looks every 100 ms, on every file system alike. A file that was renamed away is read to its end
/// before the one that took its name. A file that was replaced by a third one between two looks is
/// missed.
pub(super) struct Follow<'p> {
    path: &'p Path,
    file: File,
    until: Until,
    offset: u64,
    /// The last bytes that were read.
    tail: Vec<u8>,
    chunk: Vec<u8>,
    last_news: Instant,
    /// Another file has the name now, and this one did not grow since.
    leaving: bool,
}

/// What there is.
pub(super) enum News<'f> {
    /// More of the log.
    Bytes(&'f [u8]),
    /// The file ends here; the log goes on at the beginning of another, or of what it was cut to.
    NextFile(&'static str),
    /// Nothing for now.
    Quiet,
    /// It is over.
    End,
}

impl<'p> Follow<'p> {
    pub(super) fn open(path: &'p Path, until: Until) -> Result<Self, Error> {
        let opened = File::open(path).and_then(|file| {
            let metadata = file.metadata()?;
            let plain = metadata.is_file();
            if plain { Ok(file) } else { Err(io::Error::other("only a file can be followed")) }
        });
        let file = opened.map_err(|error| Error::Input { path: path.to_owned(), error })?;
        let (chunk, last_news) = (vec![0; CHUNK], Instant::now());
        Ok(Self {
            path,
            file,
            until,
            offset: 0,
            tail: Vec::new(),
            chunk,
            last_news,
            leaving: false,
        })
    }

    /// What the file is by, as far as it was read up to `read`.
    pub(super) fn identity(&mut self, read: u64) -> Result<Option<SourceIdentity>, Error> {
        let found = identity(&mut self.file, read);
        let back = self.file.seek(SeekFrom::Start(self.offset));
        found.and_then(|found| back.map(|_| found)).map_err(|error| self.failed(error))
    }

    /// Goes on reading at `offset`.
    pub(super) fn go_to(&mut self, offset: u64) -> Result<(), Error> {
        self.move_to(offset).map_err(|error| self.failed(error))
    }

    /// What there is now. Waits a moment if there is nothing.
    pub(super) fn next(&mut self) -> Result<News<'_>, Error> {
        if STOP.load(Ordering::Relaxed) {
            return Ok(News::End);
        }
        match self.look() {
            Ok(Look::Bytes(length)) => {
                self.last_news = Instant::now();
                Ok(News::Bytes(&self.chunk[..length]))
            }
            Ok(Look::NextFile(why)) => {
                self.last_news = Instant::now();
                Ok(News::NextFile(why))
            }
            Ok(Look::Nothing) => Ok(self.wait()),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn wait(&self) -> News<'_> {
        let Until::Asked { idle } = self.until else { return News::End };
        let left = idle.map(|idle| idle.saturating_sub(self.last_news.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            return News::End;
        }
        thread::sleep(left.map_or(POLL, |left| left.min(POLL)));
        News::Quiet
    }

    fn look(&mut self) -> io::Result<Look> {
        let length = self.file.metadata()?.len();
        if length < self.offset || (length > self.offset && !self.is_as_it_was()?) {
            self.move_to(0)?;
            return Ok(Look::NextFile("was cut, and is read again from its beginning"));
        }
        let read = self.read()?;
        if read > 0 {
            self.leaving = false;
            return Ok(Look::Bytes(read));
        }
        if let Until::End = self.until {
            return Ok(Look::Nothing);
        }
        let another = match fs::metadata(self.path) {
            Ok(metadata) => number(&metadata) != number(&self.file.metadata()?),
            // It was removed, or is about to be put back.
            Err(_) => false,
        };
        // Its writer may still be writing to the old one: it is left when a second look finds nothing.
        if !another || !std::mem::replace(&mut self.leaving, true) {
            return Ok(Look::Nothing);
        }
        self.file = File::open(self.path)?;
        self.leaving = false;
        self.move_to(0)?;
        Ok(Look::NextFile("was replaced by another file, which is read from its beginning"))
    }

    /// Whether what stands before the offset is what was read there.
    fn is_as_it_was(&mut self) -> io::Result<bool> {
        let mut found = vec![0; self.tail.len()];
        self.file.seek(SeekFrom::Start(self.offset - found.len() as u64))?;
        self.file.read_exact(&mut found)?;
        Ok(found == self.tail)
    }

    fn read(&mut self) -> io::Result<usize> {
        let length = loop {
            match self.file.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.offset += length as u64;
        self.tail.extend_from_slice(&self.chunk[length.saturating_sub(TAIL)..length]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
        Ok(length)
    }

    fn move_to(&mut self, offset: u64) -> io::Result<()> {
        let tail = offset.min(TAIL as u64);
        self.file.seek(SeekFrom::Start(offset - tail))?;
        self.tail = vec![0; tail as usize];
        self.file.read_exact(&mut self.tail)?;
        self.offset = offset;
        Ok(())
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::Input { path: self.path.to_owned(), error }
    }
}

enum Look {
    Bytes(usize),
    NextFile(&'static str),
    Nothing,
}
