//! [`DistinctFiles`]: checks that a command does not write a file that it reads, or write one file for two
//! purposes.
//!
//! Every verb names its files here before it opens any of them. Files are compared by identity, not by name:
//! links, hard links and other spellings of a path refer to the same file. Character devices and terminals are
//! not compared.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use foldline::{files::temporary_of, processor::DEFAULT_MAX_LINE};
use foldline_agents::Registry;

use crate::{error::Error, log::Log};

/// The suffixes of SQLite's sidecar files of a database.
const BESIDE_DATABASE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The largest number of links to follow.
const LINKS: usize = 40;

/// The files of a command.
#[derive(Debug, Default)]
pub struct DistinctFiles {
    files: BTreeMap<FileId, File>,
}

#[derive(Debug)]
struct File {
    /// Its name in messages.
    name: String,
    is_output: bool,
    is_standard: bool,
}

/// The identity of a file, independent of its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FileId {
    /// The device and the inode.
    #[cfg(unix)]
    Number(u64, u64),
    /// The full path without links, on systems without inodes.
    #[cfg(not(unix))]
    Path(PathBuf),
    /// A file that does not exist yet: the folder, and the name in it.
    Missing(Box<FileId>, OsString),
}

impl DistinctFiles {
    /// Checks the files of a command that only uses a database.
    pub(crate) fn of_database(path: &Path) -> Result<(), Error> {
        let mut files = Self::default();
        files.database(path)?;
        files.stdout()?;
        files.stderr()
    }

    /// Adds an input file; `-` is standard input.
    ///
    /// # Errors
    /// The file is an output.
    pub fn input(&mut self, what: &str, path: &Path) -> Result<(), Error> {
        let (id, name) = match path == Path::new("-") {
            true => (standard(&io::stdin()), "standard input".to_owned()),
            false => (identify(path), format!("{what} {}", path.display())),
        };
        self.add(id, File { name, is_output: false, is_standard: false })
    }

    /// Adds an output file.
    ///
    /// # Errors
    /// The file was added before, or is a directory.
    pub fn output(&mut self, what: &str, path: &Path) -> Result<(), Error> {
        let name = format!("{what} {}", path.display());
        if path.is_dir() {
            return Err(Error::WrongUse(format!("{name} is a directory; name a file")));
        }
        self.add(identify(path), File { name, is_output: true, is_standard: false })
    }

    /// Adds a file that is replaced atomically, with its temporary file.
    ///
    /// # Errors
    /// One of them was added before, or is a directory.
    pub fn replaced(&mut self, what: &str, path: &Path) -> Result<(), Error> {
        self.output(what, path)?;
        self.output(&format!("the temporary file of {what}"), &temporary_of(&destination(path)))
    }

    /// Adds a database with its sidecar files.
    ///
    /// # Errors
    /// One of the files was added before, or is a directory.
    pub fn database(&mut self, path: &Path) -> Result<(), Error> {
        self.output("the database", path)?;
        let database = destination(path);
        for suffix in BESIDE_DATABASE {
            let mut beside = database.clone().into_os_string();
            beside.push(suffix);
            self.output("the database's own file", beside.as_ref())?;
        }
        Ok(())
    }

    /// Standard output.
    pub(crate) fn stdout(&mut self) -> Result<(), Error> {
        self.standard("standard output", standard(&io::stdout()))
    }

    /// Standard error, which may be the same file as standard output.
    pub(crate) fn stderr(&mut self) -> Result<(), Error> {
        self.standard("standard error", standard(&io::stderr()))
    }

    /// Whether a file that was found in a folder of logs is an output, and is not to be read.
    ///
    /// # Errors
    /// The file is an output and a log.
    pub(crate) fn is_output(&self, found: &Path, registry: &Registry) -> Result<bool, Error> {
        let Some(output) = identify(found).and_then(|id| self.files.get(&id)) else {
            return Ok(false);
        };
        match output.is_output {
            true if is_log(found, registry) => {
                Err(same(output, &format!("the log {}", found.display())))
            }
            is_output => Ok(is_output),
        }
    }

    fn standard(&mut self, name: &str, id: Option<FileId>) -> Result<(), Error> {
        self.add(id, File { name: name.to_owned(), is_output: true, is_standard: true })
    }

    fn add(&mut self, id: Option<FileId>, file: File) -> Result<(), Error> {
        let Some(id) = id else { return Ok(()) };
        match self.files.get(&id) {
            Some(other)
                if (file.is_output || other.is_output)
                    && !(file.is_standard && other.is_standard) =>
            {
                Err(if file.is_output { same(&file, &other.name) } else { same(other, &file.name) })
            }
            _ => {
                self.files.insert(id, file);
                Ok(())
            }
        }
    }
}

fn same(output: &File, other: &impl fmt::Display) -> Error {
    let name = &output.name;
    Error::WrongUse(format!("{name} is the same file as {other}; give it a separate file"))
}

/// Whether a file is the log of a known agent.
fn is_log(path: &Path, registry: &Registry) -> bool {
    let Ok(mut log) = Log::open_regular(&registry.openers(), path) else { return false };
    match log.executor(registry, "auto", DEFAULT_MAX_LINE) {
        Ok(_) | Err(Error::Unsupported { .. } | Error::Disputed { .. }) => true,
        Err(_) => false,
    }
}

/// The identity of the file at a path; `None` if it is not compared, or if its metadata cannot be read: then it
/// cannot be opened either.
fn identify(path: &Path) -> Option<FileId> {
    match fs::metadata(path) {
        Ok(metadata) => existing(path, &metadata),
        Err(_) => {
            let path = destination(path);
            let folder = parent(&path);
            let folder = existing(folder, &fs::metadata(folder).ok()?)?;
            let name = path.file_name()?.to_owned();
            // File names are usually case-insensitive on these systems.
            let ignores_case = cfg!(any(windows, target_os = "macos"));
            let name = if ignores_case { name.to_ascii_lowercase() } else { name };
            Some(FileId::Missing(Box::new(folder), name))
        }
    }
}

/// The target of a path after all links, even if the file does not exist.
fn destination(path: &Path) -> PathBuf {
    if let Ok(full) = dunce::canonicalize(path) {
        return full;
    }
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = parent(&path).join(target),
            Err(_) => break,
        }
    }
    path
}

fn parent(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn existing(_: &Path, metadata: &fs::Metadata) -> Option<FileId> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let is_compared = !metadata.file_type().is_char_device();
    is_compared.then(|| FileId::Number(metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn existing(path: &Path, _: &fs::Metadata) -> Option<FileId> {
    dunce::canonicalize(path).ok().map(FileId::Path)
}

/// The file of a standard stream. Pipes are ignored, since several streams often share one.
#[cfg(unix)]
fn standard(stream: &impl std::os::fd::AsFd) -> Option<FileId> {
    let file = fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
    let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
    existing(Path::new(""), &metadata)
}

/// For systems where the standard library does not identify the file.
#[cfg(not(unix))]
fn standard<S>(_: &S) -> Option<FileId> {
    None
}
