//! The reasons why a database cannot be opened, which SQLite does not report.

use std::{fs, io, path::Path};

/// `EMFILE` and `ENFILE` of Unix: too many open files in the process or in the system.
const TOO_MANY: [i32; 2] = [24, 23];

/// The number of files that SQLite opens for a connection.
const OPENED: usize = 3;

/// The reason why SQLite cannot open a file.
pub(super) fn why_not_opened(path: &Path) -> String {
    if path.is_dir() {
        return "it is a directory".to_owned();
    }
    if let Some(error) = too_many_files(path) {
        return format!("{error}; raise the limit, for example with `ulimit -n`");
    }
    match fs::metadata(path) {
        Ok(_) => "it is not readable, or its folder is not writable".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// The reason why SQLite cannot open a database and its sidecar files, if too many files are open.
pub(super) fn too_many_files(path: &Path) -> Option<io::Error> {
    // The database itself must not be opened: closing it would release the locks of other connections.
    let opened: io::Result<Vec<_>> = (0..OPENED).map(|_| fs::read_dir(folder(path))).collect();
    opened.err().filter(|error| error.raw_os_error().is_some_and(|code| TOO_MANY.contains(&code)))
}

/// The folder of a file.
fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}
