//! [`sync_name`]: file names survive a power loss only if their folder is synced.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// Syncs the directory entry of a file that may have just been created or renamed. Syncing the file itself is not
/// enough: after a power loss its contents may exist without a name.
///
/// Does nothing for a device or a pipe, or if the system or the file system cannot sync folders.
///
/// # Errors
/// The file system failed.
pub fn sync_name(path: &Path) -> io::Result<()> {
    if !fs::metadata(path)?.is_file() {
        return Ok(());
    }
    // The folder of the file itself, not the folder of a link to it.
    let path = fs::canonicalize(path)?;
    let Some(Ok(folder)) = path.parent().map(File::open) else { return Ok(()) };
    match folder.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}
