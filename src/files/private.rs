//! [`owner_only`]: files and folders with owner-only permissions.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    path::Path,
};

/// Options for a file with private content: if opening creates the file, only its owner may read and write it (mode
/// `0600`). An existing file keeps its permissions.
///
/// On systems other than Unix, a new file inherits the permissions of its folder.
///
/// ```
/// use foldline::files::owner_only;
///
/// let folder = tempfile::tempdir()?;
/// let file = owner_only().write(true).create_new(true).open(folder.path().join("log.audit"))?;
/// # #[cfg(unix)]
/// assert_eq!(std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions()) & 0o777, 0o600);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn owner_only() -> OpenOptions {
    #[allow(unused_mut, reason = "only Unix has a mode")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a folder and its missing parents, for their owner only (mode `0700`).
///
/// # Errors
/// The folder cannot be created, or something else has that name.
pub fn owner_only_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
