//! Where a log is from: the machine, and the user whose file it is.

use std::path::Path;

/// The name of this machine; `None` if it has none.
pub fn host() -> Option<String> {
    name_of_host().filter(|name| !name.is_empty())
}

/// The name of the user who owns a file, or else of the one who runs this program, or else the number of the owner.
/// `None` if nothing of that is known.
pub fn user(file: &Path) -> Option<String> {
    owner(file).filter(|name| !name.is_empty())
}

#[cfg(unix)]
fn name_of_host() -> Option<String> {
    Some(rustix::system::uname().nodename().to_string_lossy().into_owned())
}

#[cfg(unix)]
fn owner(file: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    use nix::unistd::{Uid, User};

    let own = Uid::current();
    let id = file.metadata().map_or(own, |metadata| Uid::from_raw(metadata.uid()));
    let known = User::from_uid(id).ok().flatten().map(|user| user.name);
    let stated = || std::env::var("USER").ok().filter(|_| id == own);
    known.or_else(stated).or_else(|| Some(id.to_string()))
}

#[cfg(not(unix))]
fn name_of_host() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

#[cfg(not(unix))]
fn owner(_file: &Path) -> Option<String> {
    std::env::var("USERNAME").ok()
}
