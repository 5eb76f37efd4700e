//! Checkpoints on disk, and the output that they belong to.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    error::{Error, named},
    sink::SinkState,
};
use foldline::{
    conversation::{Json, LocatingState},
    ledger::Extent,
    processor::Checkpoint,
};

/// A checkpoint of `foldline replay`. The state is read by the executor of its format.
pub(super) type ReplayCheckpoint = Checkpoint<LocatingState<Json>, SinkState>;

/// How long after the last checkpoint another one is due.
const INTERVAL: Duration = Duration::from_secs(1);

/// The file that the checkpoints are written to, one in place of the other.
pub(super) struct Journal {
    path: PathBuf,
    every: u64,
    last: Option<(u64, Instant)>,
}

impl Journal {
    /// A checkpoint every so many lines, or every second.
    pub(super) fn new(path: &Path, every: u64) -> Self {
        Self { path: path.to_owned(), every, last: None }
    }

    /// The stored checkpoint, if there is a file.
    pub(super) fn load(&self) -> Result<Option<ReplayCheckpoint>, Error> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::Input { path: self.path.clone(), error }),
        };
        let refused = |error| self.refused(format!("{error}"));
        Checkpoint::from_bytes(&bytes).map(Some).map_err(refused)
    }

    /// Why it is not gone on from.
    pub(super) fn refused(&self, reason: impl Into<String>) -> Error {
        Error::Checkpoint { path: self.path.clone(), reason: reason.into() }
    }

    /// Whether it is time for another one when so many lines have been read.
    pub(super) fn is_due(&self, lines: u64) -> bool {
        self.last.is_none_or(|(last_lines, last)| {
            lines > last_lines && (lines - last_lines >= self.every || last.elapsed() >= INTERVAL)
        })
    }

    /// Puts a checkpoint in place of the last one: whatever happens, there is the one or the other.
    pub(super) fn write<S: Serialize, E: Serialize>(
        &mut self,
        checkpoint: &Checkpoint<S, E>,
    ) -> Result<(), Error> {
        let written = checkpoint.to_bytes().map_err(io::Error::other);
        let written = written.and_then(|bytes| replace(&self.path, &bytes));
        written.map_err(|error| Error::output(&self.path, &error))?;
        self.last = Some((checkpoint.processor.counts.lines, Instant::now()));
        Ok(())
    }
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    // The name, too, must outlive a power cut; not every system lets a folder be opened.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match File::open(folder.unwrap_or(Path::new("."))) {
        Ok(folder) => folder.sync_all(),
        Err(_) => Ok(()),
    }
}

/// The file that the output goes to.
pub(super) struct OutputFile {
    path: PathBuf,
    file: File,
    length: u64,
}

impl OutputFile {
    /// Opens the file, which is made if there is none, and leaves what is in it.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        match options.open(path) {
            Ok(file) => Ok(Self { path: path.to_owned(), file, length: 0 }),
            Err(error) => Err(Error::output(path, &error)),
        }
    }

    /// Cuts the file back to the part that a checkpoint belongs to; says why if it has no such part.
    pub(super) fn cut_back(&mut self, to: Extent) -> Result<Result<(), String>, Error> {
        match Extent::read(&mut self.file, to.length).map_err(|error| self.failed(&error))? {
            None => Ok(Err(format!("the output is shorter than {} bytes", to.length))),
            Some(found) if found != to => Ok(Err("the output is another one".to_owned())),
            Some(_) => self.begin_at(to.length).map(Ok),
        }
    }

    /// Cuts the file back to a length, and goes on writing there. Of a device or a pipe there is
    /// nothing to cut.
    pub(super) fn begin_at(&mut self, length: u64) -> Result<(), Error> {
        self.try_begin_at(length).map_err(|error| self.failed(&error))
    }

    fn try_begin_at(&mut self, length: u64) -> io::Result<()> {
        if length > 0 || self.file.metadata()?.is_file() {
            self.file.set_len(length)?;
            self.file.seek(SeekFrom::Start(length))?;
        }
        self.length = length;
        Ok(())
    }

    /// Makes sure that what was written stays, and says what it is.
    pub(super) fn settle(&mut self) -> Result<Extent, Error> {
        self.try_settle().map_err(|error| self.failed(&error))
    }

    fn try_settle(&mut self) -> io::Result<Extent> {
        self.file.sync_data()?;
        let settled = Extent::read(&mut self.file, self.length)?;
        self.file.seek(SeekFrom::Start(self.length))?;
        settled.ok_or_else(|| io::Error::other("somebody else made it shorter"))
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::output(&self.path, error)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes).map_err(|error| named(&self.path, &error))?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
