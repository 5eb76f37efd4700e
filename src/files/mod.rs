//! Files with private content: owner-only permissions, atomic replacement, durable across a power loss.

mod replace;

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

pub(crate) use self::replace::is_at;
pub use self::replace::{replace_file, temporary_of};

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

/// Syncs the directory entry of a file that may have just been created or renamed. Syncing the file itself is not
/// enough: after a power loss its contents may exist without a name.
///
/// Does nothing for a device or a pipe, or if the system or the file system cannot sync folders.
///
/// # Errors
/// The file system failed.
pub fn sync_name(path: &Path) -> io::Result<()> {
    // Windows writes names with the file system's own journal, and syncs no folders.
    if !fs::metadata(path)?.is_file() || cfg!(windows) {
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

/// The URI with which SQLite reads the database at a full path without locks. It creates no file next to the database,
/// which must contain all changes.
pub fn immutable_database(full: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in full.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(*byte));
            }
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri += "?immutable=1";
    uri.into()
}
