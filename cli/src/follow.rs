//! [`Follow`]: a log that is still being written.

mod rotated;
mod wake;

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use self::wake::Wake;
use super::{
    checkpoint::{identity, number},
    error::Error,
};
use foldline::{
    conversation::Digest,
    processor::{Extent, SourceIdentity},
};

/// How often a log is looked at for news where nobody tells of them.
const POLL: Duration = Duration::from_millis(100);

/// How many bytes are read at once.
const CHUNK: usize = 64 << 10;

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
/// It looks when the system tells of a change, and every 100 ms, as some file systems tell of none. A
/// file that was renamed away is read to its end, then those that took its name and were renamed away as
/// well, as far as they are still beside it, and then the one that has the name now. Of a file that was copied and cut, the copy is read to its end.
/// What may be missing is told.
pub(super) struct Follow<'p> {
    path: &'p Path,
    /// The file that is read; it has another name once it was renamed.
    file: File,
    /// The name that it was opened by.
    opened: PathBuf,
    until: Until,
    offset: u64,
    /// Its length when it was last looked at.
    seen: u64,
    /// The first bytes that were read, and the last ones.
    head: Vec<u8>,
    tail: Vec<u8>,
    chunk: Vec<u8>,
    last_news: Instant,
    /// Since when another file has the name, while this one did not grow.
    leaving: Option<Instant>,
    /// It was a rotated one already when it was opened.
    is_rotated: bool,
    /// None where nobody waits for news.
    wake: Option<Wake>,
}

/// What there is.
pub(super) enum News<'f> {
    /// More of the log.
    Bytes(&'f [u8]),
    /// The log goes on with the same line, and this is to be told.
    Notice(String),
    /// The file ends here; the log goes on at the beginning of another, or of what it was cut to.
    NextFile(String),
    /// Nothing for now.
    Quiet,
    /// It is over.
    End,
}

/// What there is in the file.
enum Look {
    Bytes(usize),
    Notice(String),
    NextFile(String),
    Nothing,
}

impl<'p> Follow<'p> {
    pub(super) fn open(path: &'p Path, until: Until) -> Result<Self, Error> {
        let opened = File::open(path).and_then(|file| {
            let metadata = file.metadata()?;
            let plain = metadata.is_file();
            if plain { Ok(file) } else { Err(io::Error::other("only a file can be followed")) }
        });
        let file = opened.map_err(|error| Error::Input { path: path.to_owned(), error })?;
        let wake = matches!(until, Until::Asked { .. }).then(Wake::new);
        let mut follow = Self {
            path,
            file,
            opened: path.to_owned(),
            until,
            offset: 0,
            seen: 0,
            head: Vec::new(),
            tail: Vec::new(),
            chunk: vec![0; CHUNK],
            last_news: Instant::now(),
            leaving: None,
            is_rotated: false,
            wake,
        };
        follow.watch();
        Ok(follow)
    }

    /// Has the file that is read now watched.
    fn watch(&mut self) {
        if let Some(wake) = &mut self.wake {
            wake.watch(&self.opened);
        }
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

    /// Goes on where the log was left, in the file that it was rotated to meanwhile if there is one;
    /// gives what is to be told, or why it cannot be found.
    pub(super) fn go_on(
        &mut self,
        left: &SourceIdentity,
    ) -> Result<Result<Option<String>, String>, Error> {
        let here = self.identity(left.read.length)?;
        let is_alike = here.is_some_and(|here| here.read == left.read);
        let is_same =
            here.is_some_and(|here| (here.device, here.inode) == (left.device, left.inode));
        let mut notice = None;
        if !(is_alike && is_same) {
            let elsewhere =
                rotated::left_in(self.path, left).map_err(|error| self.failed(error))?;
            // A file that was put back, or copied here, is alike and has another number.
            let elsewhere = elsewhere
                .filter(|(rotated, _)| !is_alike || rotated.number == (left.device, left.inode));
            match elsewhere {
                Some((rotated, _)) => {
                    let name = rotated.path.display();
                    notice = Some(format!("was rotated; {name} is read to its end first"));
                    self.file = File::open(&rotated.path).map_err(|error| self.failed(error))?;
                    self.opened = rotated.path;
                    self.is_rotated = true;
                    self.watch();
                }
                None if is_alike => {}
                None => {
                    let log = self.path.display();
                    let why = match here {
                        None => "shorter than it was",
                        Some(_) => "another file than it was",
                    };
                    let beside = "and no file beside it is the one that was read";
                    return Ok(Err(format!("{log} is {why}, {beside}")));
                }
            }
        }
        self.go_to(left.read.length)?;
        Ok(Ok(notice))
    }

    /// What there is now. Waits a moment if there is nothing.
    pub(super) fn next(&mut self) -> Result<News<'_>, Error> {
        if STOP.load(Ordering::Relaxed) {
            return Ok(News::End);
        }
        let look = self.look().map_err(|error| self.failed(error))?;
        if !matches!(look, Look::Nothing) {
            self.last_news = Instant::now();
        }
        Ok(match look {
            Look::Bytes(length) => News::Bytes(&self.chunk[..length]),
            Look::Notice(what) => News::Notice(what),
            Look::NextFile(why) => News::NextFile(why),
            Look::Nothing => self.wait(),
        })
    }

    fn wait(&self) -> News<'_> {
        let Until::Asked { idle } = self.until else { return News::End };
        let left = idle.map(|idle| idle.saturating_sub(self.last_news.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            return News::End;
        }
        if let Some(wake) = &self.wake {
            wake.wait(left.map_or(POLL, |left| left.min(POLL)));
        }
        News::Quiet
    }

    fn look(&mut self) -> io::Result<Look> {
        let length = self.file.metadata()?.len();
        if length < self.offset || (length > self.offset && !self.is_as_it_was()?) {
            return self.was_cut();
        }
        self.seen = length;
        let read = self.read()?;
        if read > 0 {
            self.leaving = None;
            return Ok(Look::Bytes(read));
        }
        let is_ending = matches!(self.until, Until::End);
        if is_ending && !self.is_rotated {
            return Ok(Look::Nothing);
        }
        let another = match fs::metadata(self.path) {
            Ok(metadata) => number(&metadata) != number(&self.file.metadata()?),
            // It was removed, or is about to be put back.
            Err(_) => self.is_rotated,
        };
        if !another {
            return Ok(Look::Nothing);
        }
        // Its writer may still be writing to the old one: it is left when nothing comes for a while.
        let leaving = *self.leaving.get_or_insert_with(Instant::now);
        if !is_ending && leaving.elapsed() < POLL {
            return Ok(Look::Nothing);
        }
        self.next_file()
    }

    /// The file was cut: what it said before is in its copy, or not to be had any more.
    fn was_cut(&mut self) -> io::Result<Look> {
        let edges = [&*self.head, &*self.tail].concat();
        let read = Extent { length: self.offset, edges: Digest::of(&edges) };
        if let Some((copy, length)) = rotated::copy_of(self.path, read)? {
            self.file = File::open(&copy.path)?;
            self.opened = copy.path;
            self.is_rotated = true;
            self.watch();
            self.move_to(read.length)?;
            let (name, left) = (self.opened.display(), length - read.length);
            return Ok(Look::Notice(format!(
                "was copied to {name} and cut; {left} bytes that were not read yet are read there, \
                 and if more was written between the copy and the cut, it is lost"
            )));
        }
        let gap = match self.seen.saturating_sub(self.offset) {
            0 => "whether anything was written behind them is not known".to_owned(),
            known => format!("at least {known} bytes behind them are lost"),
        };
        let offset = self.offset;
        self.move_to(0)?;
        Ok(Look::NextFile(format!(
            "was cut, and is read again from its beginning; {offset} bytes of it had been read, and {gap}"
        )))
    }

    /// Leaves the file for the next one that had the log's name.
    fn next_file(&mut self) -> io::Result<Look> {
        let here = number(&self.file.metadata()?);
        // Somebody may be renaming them just now: what is opened is what stood there before and after.
        for _ in 0..10 {
            let younger = rotated::younger_than(self.path, here)?;
            let next = younger.as_ref().and_then(|younger| younger.first());
            let path = next.map_or(self.path, |next| &next.path);
            let file = match File::open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                file => file?,
            };
            let found = number(&file.metadata()?);
            if next.is_some_and(|next| next.number != found)
                || rotated::younger_than(self.path, here)? != younger
            {
                continue;
            }
            let name = path.display();
            let told = match (next, &younger) {
                (Some(_), _) => format!("was rotated more than once; {name} is read next"),
                (None, Some(_)) => {
                    "was replaced by another file, which is read from its beginning".to_owned()
                }
                (None, None) => {
                    "was replaced by another file, which is read from its beginning; the one before \
                     it is not beside it, and whether others stood between them is not known"
                        .to_owned()
                }
            };
            (self.opened, self.is_rotated) = (path.to_owned(), next.is_some());
            (self.file, self.leaving) = (file, None);
            self.watch();
            self.move_to(0)?;
            return Ok(Look::NextFile(told));
        }
        Ok(Look::Nothing)
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
        let read = &self.chunk[..length];
        self.head.extend_from_slice(&read[..length.min(Extent::EDGE - self.head.len())]);
        self.tail.extend_from_slice(&read[length.saturating_sub(Extent::EDGE)..]);
        self.tail.drain(..self.tail.len().saturating_sub(Extent::EDGE));
        Ok(length)
    }

    fn move_to(&mut self, offset: u64) -> io::Result<()> {
        let edge = offset.min(Extent::EDGE as u64);
        self.head = vec![0; edge as usize];
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_exact(&mut self.head)?;
        self.tail = vec![0; edge as usize];
        self.file.seek(SeekFrom::Start(offset - edge))?;
        self.file.read_exact(&mut self.tail)?;
        (self.offset, self.seen) = (offset, offset);
        Ok(())
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::Input { path: self.opened.clone(), error }
    }
}
