//! [`Opener`]: logs whose content is not the bytes of one file.

use std::{
    cell::OnceCell,
    fmt,
    fs::{File, Metadata},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::Path,
    sync::Arc,
};

use super::status::status;
use crate::ledger::Identity;

/// The number of attempts to read a log that its program changes at the same time.
const ATTEMPTS: usize = 3;

/// A log that is a database, a folder or a document: it is read as the lines that it is written out as.
pub trait StoredLog: fmt::Debug + Send {
    /// The metadata of everything that the log consists of, given that of the opened `file`. The size and the times
    /// have to change with every part. It must be cheap: it is asked for whenever the log may have changed.
    ///
    /// # Errors
    /// A part cannot be read.
    fn status(&self, file: Identity) -> io::Result<Identity> {
        Ok(file)
    }

    /// Writes the log as lines. Equal content has to give equal lines.
    ///
    /// Lines in the order in which the program writes them are followed as they are added. A change of an earlier line
    /// is allowed, such as a row whose result came later; then all lines are read again.
    ///
    /// # Errors
    /// It cannot be read, or `out` fails.
    fn write(&self, file: &File, out: &mut dyn Write) -> io::Result<()>;
}

/// Recognises files that hold a log in another form than lines.
pub trait Opener: Send + Sync {
    /// The log in the file at `path`, which begins with the bytes `head`; `None` if it is not one of this kind.
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>>;

    /// The lines of a log whose content is in memory, where there are no files; `None` if it is not one of this kind, or
    /// its lines need more than that.
    fn lines(&self, _path: &Path, _content: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Whether each log is one file, a document: its metadata shows every change, and it is no larger than a log of
    /// lines, so that its content is compared with that of others.
    fn is_of_one_file(&self) -> bool {
        false
    }
}

/// The openers that a program knows, in order. Without any, a log is a file of lines, plain or compressed.
///
/// ```
/// use std::{fs::File, io::{self, Read, Write}, path::Path, sync::Arc};
///
/// use foldline::source::{Opener, Openers, StoredLog};
///
/// /// Texts whose records end with a semicolon.
/// #[derive(Debug)]
/// struct Semicolons;
///
/// impl Opener for Semicolons {
///     fn open(&self, path: &Path, _: &[u8]) -> Option<Box<dyn StoredLog>> {
///         let is_one = path.extension().is_some_and(|extension| extension == "semicolons");
///         is_one.then(|| Box::new(Semicolons) as _)
///     }
/// }
///
/// impl StoredLog for Semicolons {
///     fn write(&self, mut file: &File, out: &mut dyn Write) -> io::Result<()> {
///         let mut text = String::new();
///         file.read_to_string(&mut text)?;
///         out.write_all(text.replace(';', "\n").as_bytes())
///     }
/// }
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.semicolons");
/// std::fs::write(&path, "one;two;")?;
/// let openers: Openers = [Arc::new(Semicolons) as Arc<dyn Opener>].into_iter().collect();
/// assert_eq!(openers.open(&path)?.read()?, b"one\ntwo\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Openers(Arc<[Arc<dyn Opener>]>);

impl Openers {
    pub(super) fn stored(&self, path: &Path, file: &File, head: &[u8]) -> Option<StoredLines> {
        self.0.iter().find_map(|opener| {
            let log = opener.open(path, head)?;
            let (file, is_document) = (file.try_clone().ok()?, opener.is_of_one_file());
            Some(StoredLines { log, file, is_document, lines: OnceCell::new() })
        })
    }
}

impl FromIterator<Arc<dyn Opener>> for Openers {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Opener>>>(openers: I) -> Self {
        Self(openers.into_iter().collect())
    }
}

impl fmt::Debug for Openers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Openers({})", self.0.len())
    }
}

/// The lines of a stored log. They are written to an unlinked temporary file when they are needed first, and are those
/// of one moment: they do not grow like a log.
#[derive(Debug)]
pub(super) struct StoredLines {
    log: Box<dyn StoredLog>,
    file: File,
    is_document: bool,
    lines: OnceCell<WrittenLines>,
}

#[derive(Debug)]
struct WrittenLines {
    file: File,
    /// The status of the log before it was read.
    status: Identity,
}

impl StoredLines {
    /// Whether it is one file.
    pub(super) fn is_document(&self) -> bool {
        self.is_document
    }

    /// The metadata of the opened file.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// The length of the lines in bytes.
    pub(super) fn length(&self) -> io::Result<u64> {
        Ok(self.lines()?.file.metadata()?.len())
    }

    /// The status of the whole log, with a read length of 0. Its size is not that of the lines, which is not known
    /// without reading it.
    pub(super) fn status(&self) -> io::Result<Identity> {
        match self.lines.get() {
            Some(lines) => Ok(lines.status),
            None => self.log.status(status(&self.file.metadata()?)),
        }
    }

    fn lines(&self) -> io::Result<&WrittenLines> {
        if let Some(lines) = self.lines.get() {
            return Ok(lines);
        }
        let lines = self.write()?;
        Ok(self.lines.get_or_init(|| lines))
    }

    fn write(&self) -> io::Result<WrittenLines> {
        let mut attempt = 1;
        loop {
            let status = self.status()?;
            let mut out = BufWriter::new(tempfile::tempfile()?);
            (&self.file).rewind()?;
            self.log.write(&self.file, &mut out)?;
            out.flush()?;
            let now = self.status()?;
            let is_unchanged = (now.size, now.modified) == (status.size, status.modified);
            if is_unchanged || attempt == ATTEMPTS {
                let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                (&file).rewind()?;
                return Ok(WrittenLines { file, status });
            }
            attempt += 1;
        }
    }
}

impl Read for StoredLines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.lines()?.file).read(buffer)
    }
}

impl Seek for StoredLines {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.lines()?.file).seek(to)
    }
}
