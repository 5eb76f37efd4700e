//! What keeps a database from being opened, which SQLite does not say.

use std::{fs, io, path::Path};

/// What Unix calls `EMFILE` and `ENFILE`: the process, or the system, has as many open files as it may have.
const TOO_MANY: [i32; 2] = [24, 23];

/// How many files SQLite opens for a connection.
const OPENED: usize = 3;

/// Why SQLite cannot open a file.
pub(super) fn why_not_opened(path: &Path) -> String {
    if path.is_dir() {
        return "it is a directory".to_owned();
    }
    if let Some(error) = too_many_files(path) {
        return format!("{error}; allow more of them, with `ulimit -n` for instance");
    }
    match fs::metadata(path) {
        Ok(_) => "it may not be read, or nothing may be written to its folder".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Why SQLite cannot open a database and the files beside it, if that is because too many files are open.
pub(super) fn too_many_files(path: &Path) -> Option<io::Error> {
    // The database itself must not be opened: closing it would end the locks of other connections.
    let opened: io::Result<Vec<_>> = (0..OPENED).map(|_| fs::read_dir(folder(path))).collect();
    opened.err().filter(|error| error.raw_os_error().is_some_and(|code| TOO_MANY.contains(&code)))
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}
