//! [`Disk`]: what runs of the program did to the files of a folder, operation by operation.

use std::{
    collections::{BTreeMap, HashMap},
    fmt, fs,
    path::{Path, PathBuf},
};

use super::{
    crash::{Crash, Loss},
    trace::Call,
};

/// A file independent of its name, numbered by creation.
pub(crate) type FileId = usize;

/// The readable contents of each path.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A change to a file or to a folder, or the promise that changes are on the disk.
#[derive(Debug)]
pub(crate) enum Operation {
    Write {
        file: FileId,
        at: usize,
        bytes: Vec<u8>,
    },
    SetLength {
        file: FileId,
        length: usize,
    },
    /// `path` names this file from here on.
    Link {
        path: PathBuf,
        file: FileId,
    },
    Rename {
        from: PathBuf,
        path: PathBuf,
        file: FileId,
    },
    Unlink {
        path: PathBuf,
        file: FileId,
    },
    /// The changes of the file among the first `before` operations are on the disk.
    SyncFile {
        file: FileId,
        before: usize,
    },
    /// The same for what names the files of a folder.
    SyncFolder {
        folder: PathBuf,
        before: usize,
    },
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { file, at, bytes } => write!(f, "write {} to {file} at {at}", bytes.len()),
            other => write!(f, "{other:?}"),
        }
    }
}

/// The files of a folder, and everything that was done to them, by one run after another.
pub(crate) struct Disk {
    /// The folder, without its `logs`, which are only read.
    folder: PathBuf,
    /// The contents of the disk before the first run.
    pub(crate) contents: Vec<Vec<u8>>,
    pub(crate) names: BTreeMap<PathBuf, FileId>,
    pub(crate) operations: Vec<Operation>,
    /// The current directory entries.
    named: BTreeMap<PathBuf, FileId>,
    /// How long each file is now.
    lengths: Vec<usize>,
}

/// The target of a file descriptor.
#[derive(Clone, Debug)]
enum Open {
    File { file: FileId, at: usize, appends: bool },
    Folder(PathBuf),
}

impl Disk {
    /// A disk with the files that are in the folder.
    pub(crate) fn of(folder: &Path) -> Self {
        let mut disk = Self {
            folder: folder.to_owned(),
            contents: Vec::new(),
            names: BTreeMap::new(),
            operations: Vec::new(),
            named: BTreeMap::new(),
            lengths: Vec::new(),
        };
        for (path, contents) in files(folder) {
            disk.names.insert(path, disk.contents.len());
            disk.contents.push(contents);
        }
        disk.named.clone_from(&disk.names);
        disk.lengths = disk.contents.iter().map(Vec::len).collect();
        disk
    }

    /// Adds what a run of the program did.
    pub(crate) fn record(&mut self, calls: &[Call]) {
        let mut open = HashMap::new();
        let mut ended = Vec::new();
        for call in calls {
            ended.push(self.operations.len());
            let before = ended.get(call.before).copied().unwrap_or(self.operations.len());
            self.call(call, before, &mut open);
        }
        assert_eq!(self.whole(), files(&self.folder), "the record is not all that was done");
    }

    /// The files as they are when nothing is lost.
    pub(crate) fn whole(&self) -> Files {
        Crash::after(self, self.operations.len()).files(Loss::Nothing)
    }

    fn call(&mut self, call: &Call, before: usize, open: &mut HashMap<i64, Open>) {
        match call.name.as_str() {
            "openat" => self.open(call, open),
            "close" => {
                open.remove(&call.number(0));
            }
            "dup" | "dup2" | "dup3" => {
                panic!("a file that is open twice is not modelled: {call:?}")
            }
            "fcntl" => assert!(
                !call.word(1).starts_with("F_DUPFD") || !open.contains_key(&call.number(0)),
                "a file that is open twice is not modelled: {call:?}"
            ),
            "rename" => self.rename(&call.text(0), &call.text(1)),
            "renameat" | "renameat2" => self.rename(&call.text(1), &call.text(3)),
            "unlink" => self.unlink(&call.text(0)),
            "unlinkat" => self.unlink(&call.text(1)),
            "link" => self.link(&call.text(0), &call.text(1)),
            "linkat" => self.link(&call.text(1), &call.text(3)),
            _ => {
                if let Some(open) =
                    call.word(0).parse().ok().and_then(|number| open.get_mut(&number))
                {
                    self.change(call, before, open);
                }
            }
        }
    }

    fn open(&mut self, call: &Call, open: &mut HashMap<i64, Open>) {
        let Some(path) = self.path(&call.text(1)) else { return };
        let has = |flag| call.word(2).split('|').any(|word| word == flag);
        let number = call.result.cast_signed();
        if self.folder.join(&path).is_dir() {
            open.insert(number, Open::Folder(path));
            return;
        }
        let file = match self.named.get(&path) {
            Some(file) => *file,
            None => {
                assert!(has("O_CREAT"), "{call:?}");
                let file = self.lengths.len();
                self.lengths.push(0);
                self.name(path, file);
                file
            }
        };
        if has("O_TRUNC") {
            self.set_length(file, 0);
        }
        open.insert(number, Open::File { file, at: 0, appends: has("O_APPEND") });
    }

    /// An operation on an open file or folder.
    fn change(&mut self, call: &Call, before: usize, open: &mut Open) {
        let result = usize::try_from(call.result).unwrap();
        let (file, at, appends) = match open {
            Open::Folder(folder) => {
                if call.name == "fsync" {
                    let folder = folder.clone();
                    self.operations.push(Operation::SyncFolder { folder, before });
                }
                return;
            }
            Open::File { file, at, appends } => (*file, at, *appends),
        };
        match call.name.as_str() {
            "lseek" => *at = result,
            "read" | "readv" => *at += result,
            "write" | "writev" => {
                if appends {
                    *at = self.lengths[file];
                }
                self.write(file, *at, call);
                *at += result;
            }
            "pwrite64" => self.write(file, usize::try_from(call.number(3)).unwrap(), call),
            "ftruncate" => self.set_length(file, usize::try_from(call.number(1)).unwrap()),
            "fsync" | "fdatasync" => self.operations.push(Operation::SyncFile { file, before }),
            _ => panic!("it is not modelled what this does: {call:?}"),
        }
    }

    fn write(&mut self, file: FileId, at: usize, call: &Call) {
        let mut bytes = call.bytes();
        bytes.truncate(usize::try_from(call.result).unwrap());
        self.lengths[file] = self.lengths[file].max(at + bytes.len());
        self.operations.push(Operation::Write { file, at, bytes });
    }

    fn set_length(&mut self, file: FileId, length: usize) {
        self.lengths[file] = length;
        self.operations.push(Operation::SetLength { file, length });
    }

    fn name(&mut self, path: PathBuf, file: FileId) {
        self.named.insert(path.clone(), file);
        self.operations.push(Operation::Link { path, file });
    }

    fn link(&mut self, from: &str, to: &str) {
        if let (Some(from), Some(to)) = (self.path(from), self.path(to)) {
            self.name(to, self.named[&from]);
        }
    }

    fn rename(&mut self, from: &str, to: &str) {
        if let (Some(from), Some(path)) = (self.path(from), self.path(to)) {
            assert_eq!(from.parent(), path.parent(), "only within a folder is it one operation");
            let file = self.named.remove(&from).unwrap();
            self.named.insert(path.clone(), file);
            self.operations.push(Operation::Rename { from, path, file });
        }
    }

    fn unlink(&mut self, path: &str) {
        if let Some(path) = self.path(path) {
            let file = self.named.remove(&path).unwrap();
            self.operations.push(Operation::Unlink { path, file });
        }
    }

    /// A path within the folder; `None` if it is outside, or does not matter.
    fn path(&self, path: &str) -> Option<PathBuf> {
        let path = self.folder.join(path);
        let path = path.strip_prefix(&self.folder).ok()?;
        matters(path).then(|| path.to_owned())
    }
}

/// The relevant files of a folder and its subfolders.
pub(crate) fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(within) = folders.pop() {
        for entry in fs::read_dir(within).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if matters(&name) {
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

/// Whether a file is relevant. Logs are only read, and the index of SQLite's write-ahead log is shared memory,
/// which SQLite rebuilds.
fn matters(path: &Path) -> bool {
    !path.starts_with("logs") && !path.to_str().unwrap().ends_with("-shm")
}
