//! [`replace_file`]: replaces the contents of a file atomically.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{owner_only, sync_name};

/// How often another program may take the name of the temporary file before creating it fails.
const ATTEMPTS: usize = 100;

/// Replaces the contents of a file atomically: a reader, or a run after a crash, finds either the old or the new
/// contents.
///
/// The contents are written to a temporary file ([`temporary_of`]), synced, and renamed. A temporary file of a killed
/// run is removed; if another run is writing there, this function waits. A link to a file is followed. An existing
/// file keeps its permissions; a new file is readable by its owner only.
///
/// Returns the new file. It was locked before it was renamed, and stays locked while it is open.
///
/// # Errors
/// The file system failed. The old contents are still there, unless only syncing the new name failed.
pub fn replace_file(path: &Path, contents: &[u8]) -> io::Result<File> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let temporary = temporary_of(path);
    let mut file = create(&temporary).map_err(|error| {
        io::Error::new(error.kind(), format!("{}: {error}", temporary.display()))
    })?;
    let written = fs::metadata(path)
        .map_or(Ok(()), |metadata| file.set_permissions(metadata.permissions()))
        .and_then(|()| file.write_all(contents))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    sync_name(path).map(|()| file)
}

/// The path at which [`replace_file`] writes the new contents of the file at `path`, which must not be a link.
pub fn temporary_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".foldline-new");
    name.into()
}

/// Creates and locks a file that must not exist, so that nothing is written through a link. While it is locked, no
/// other run removes it.
fn create(path: &Path) -> io::Result<File> {
    for _ in 0..ATTEMPTS {
        match owner_only().write(true).create_new(true).open(path) {
            Ok(file) => {
                file.lock()?;
                // The file may have been removed before it was locked.
                if is_at(&file, path) {
                    return Ok(file);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove_left(path)?,
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("other programs keep writing to it"))
}

/// Removes a temporary file of a killed run. Waits for a run that is still writing.
fn remove_left(path: &Path) -> io::Result<()> {
    let removed = fs::symlink_metadata(path).and_then(|metadata| {
        // Opening a link would lock its target, opening a pipe would wait for its writer.
        if !metadata.is_file() {
            return fs::remove_file(path);
        }
        let file = File::open(path)?;
        file.lock()?;
        // The lock is held until the file is removed: a run that has created the file but not locked it yet must see
        // that it is gone.
        if is_at(&file, path) { fs::remove_file(path) } else { Ok(()) }
    });
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Whether the open file is still the file at `path`, and was not replaced.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let there = fs::symlink_metadata(path).map(number);
    there.is_ok_and(|there| file.metadata().is_ok_and(|metadata| number(metadata) == there))
}

/// An open file cannot be removed on this platform.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, _: &Path) -> bool {
    true
}
