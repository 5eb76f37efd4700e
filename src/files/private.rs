//! [`owner_only`]: files and folders that nobody but their owner reads.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    path::Path,
};

/// Options for a file that holds what people said: if opening creates it, only its owner may read and write
/// it (mode `0600`). A file that exists keeps its permissions.
///
/// On systems other than Unix, a new file has the permissions that its folder gives it.
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

/// Makes a folder, and those that it is in, as far as there are none: for their owner only (mode `0700`).
///
/// # Errors
/// It cannot be made, or there is something else of that name.
pub fn owner_only_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
