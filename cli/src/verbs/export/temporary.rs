//! Temporary files that replace others when they are complete.

use std::{fs, io, path::Path};

use tempfile::NamedTempFile;

/// A file in the folder of another one, for its owner only.
pub(super) fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
}

/// Replaces a file, whose permissions are kept.
pub(super) fn replace(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    if let Ok(known) = fs::metadata(path) {
        file.as_file().set_permissions(known.permissions())?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}
