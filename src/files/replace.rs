//! [`replace_file`]: replaces the contents of a file as a whole.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{owner_only, sync_name};

/// How often another program may take the name of the temporary file in between.
const ATTEMPTS: usize = 100;

/// Replaces the contents of a file: a reader, and a run after a crash, finds the old contents or the new ones.
///
/// The contents are written to [`temporary_of`] the file, forced onto the disk, and renamed. What a killed
/// run left under that name is removed, and a run that is writing there is waited for. A link to a file is
/// followed. A file that exists keeps its permissions; a new one belongs to its owner only.
///
/// Returns the new file. It was locked before it got its name, and is as long as it is open.
///
/// # Errors
/// The file system failed. The old contents are still there, unless it failed only to force the new name onto
/// the disk.
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

/// The name under which [`replace_file`] writes the new contents of the file at `path`, which is no link.
pub fn temporary_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".foldline-new");
    name.into()
}

/// Creates a file that was not there, so that nothing is written through a link, and locks it. As long as it
/// is locked, no other run removes it.
fn create(path: &Path) -> io::Result<File> {
    for _ in 0..ATTEMPTS {
        match owner_only().write(true).create_new(true).open(path) {
            Ok(file) => {
                file.lock()?;
                // It could be removed before it was locked.
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

/// Removes what a killed run left. Waits for a run that is still writing.
fn remove_left(path: &Path) -> io::Result<()> {
    let removed = fs::symlink_metadata(path).and_then(|metadata| {
        // To open a link would lock its target, to open a pipe would wait for its writer.
        if !metadata.is_file() {
            return fs::remove_file(path);
        }
        let file = File::open(path)?;
        file.lock()?;
        // Locked until it is removed: whoever made it has not locked it yet, and must see that it is gone.
        if is_at(&file, path) { fs::remove_file(path) } else { Ok(()) }
    });
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Whether an open file is the one that has this name by now, and not one that was replaced.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let there = fs::symlink_metadata(path).map(number);
    there.is_ok_and(|there| file.metadata().is_ok_and(|metadata| number(metadata) == there))
}

/// Where an open file cannot be removed.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, _: &Path) -> bool {
    true
}
