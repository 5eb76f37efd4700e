//! [`DistinctFiles`]: no file that a command writes is one that it reads, or that it also writes as
//! something else.
//!
//! Every verb names its files here before it opens any of them. Files are compared by what they are, not by
//! what they are called: links, hard links and other spellings of a path lead to the same file. Character
//! devices and terminals are not compared.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use foldline::{executors::Registry, files::temporary_of, processor::DEFAULT_MAX_LINE};

use crate::{error::Error, log::Log};

/// What SQLite adds to the name of a database for the files beside it.
const BESIDE_DATABASE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// How many links are followed.
const LINKS: usize = 40;

/// The files of a command.
#[derive(Debug, Default)]
pub struct DistinctFiles {
    files: BTreeMap<FileId, File>,
}

#[derive(Debug)]
struct File {
    /// What it is called in messages.
    name: String,
    is_output: bool,
    is_standard: bool,
}

/// By what a file is known under all its names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FileId {
    /// The device, and its number there.
    #[cfg(unix)]
    Number(u64, u64),
    /// The full path without links, where files have no number.
    #[cfg(not(unix))]
    Path(PathBuf),
    /// A file that does not exist yet: the folder, and the name in it.
    Missing(Box<FileId>, OsString),
}

impl DistinctFiles {
    /// Checks the files of a command that works on a database only.
    pub(crate) fn of_database(path: &Path) -> Result<(), Error> {
        let mut files = Self::default();
        files.database(path)?;
        files.stdout()?;
        files.stderr()
    }

    /// A file that is read; `-` is standard input.
    ///
    /// # Errors
    /// It is one that is written.
    pub fn input(&mut self, what: &str, path: &Path) -> Result<(), Error> {
        let (id, name) = match path == Path::new("-") {
            true => (standard(&io::stdin()), "standard input".to_owned()),
            false => (identify(path), format!("{what} {}", path.display())),
        };
        self.add(id, File { name, is_output: false, is_standard: false })
    }

    /// A file that is written.
    ///
    /// # Errors
    /// It is one that was named before, or a directory.
    pub fn output(&mut self, what: &str, path: &Path) -> Result<(), Error> {
        let name = format!("{what} {}", path.display());
        if path.is_dir() {
            return Err(Error::WrongUse(format!("{name} is a directory; name a file")));
        }
        self.add(identify(path), File { name, is_output: true, is_standard: false })
    }

    /// A file that is replaced as a whole, by way of a temporary one.
    ///
    /// # Errors
    /// Either of them was named before, or is a directory.
    pub fn replaced(&mut self, what: &str, path: &Path) -> Result<(), Error> {
        self.output(what, path)?;
        self.output(&format!("the temporary file of {what}"), &temporary_of(&destination(path)))
    }

    /// A database, with the files beside it.
    ///
    /// # Errors
    /// One of them was named before, or is a directory.
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
    /// It is an output and a log.
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
    let Ok(mut log) = Log::open_regular(path) else { return false };
    match log.executor(registry, "auto", DEFAULT_MAX_LINE) {
        Ok(_) | Err(Error::Unsupported { .. } | Error::Disputed { .. }) => true,
        Err(_) => false,
    }
}

/// The identity of the file to which a path leads; `None` if it is not compared, or cannot be looked at:
/// then it cannot be opened either.
fn identify(path: &Path) -> Option<FileId> {
    match fs::metadata(path) {
        Ok(metadata) => existing(path, &metadata),
        Err(_) => {
            let path = destination(path);
            let folder = parent(&path);
            let folder = existing(folder, &fs::metadata(folder).ok()?)?;
            let name = path.file_name()?.to_owned();
            // These systems usually do not distinguish them.
            let ignores_case = cfg!(any(windows, target_os = "macos"));
            let name = if ignores_case { name.to_ascii_lowercase() } else { name };
            Some(FileId::Missing(Box::new(folder), name))
        }
    }
}

/// The path to which links lead, whether a file is there or not.
fn destination(path: &Path) -> PathBuf {
    if let Ok(full) = fs::canonicalize(path) {
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
    fs::canonicalize(path).ok().map(FileId::Path)
}

/// The file that a standard stream leads to. Pipes are left out: they are often the same.
#[cfg(unix)]
fn standard(stream: &impl std::os::fd::AsFd) -> Option<FileId> {
    let file = fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
    let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
    existing(Path::new(""), &metadata)
}

/// Where the standard library does not say which file it is.
#[cfg(not(unix))]
fn standard<S>(_: &S) -> Option<FileId> {
    None
}
