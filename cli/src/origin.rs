//! Where a log is from: the machine, and the user whose file it is.

use std::path::Path;

#[cfg(unix)]
use nix::unistd::{Uid, User};

/// The file that marks the folder of logs that other machines have sent: `MACHINE/USER/PATH`.
pub(crate) const RECEIVED: &str = "foldline-received";

/// The machine and the user of a log, which another machine may have sent.
pub(crate) fn of(log: &Path) -> (Option<String>, Option<String>) {
    // The outermost: what is within was named by the sender.
    let received = log.ancestors().skip(3).filter(|folder| folder.join(RECEIVED).is_file()).last();
    let parts = received.and_then(|folder| {
        let mut parts = log.strip_prefix(folder).ok()?.components();
        let mut next = || Some(parts.next()?.as_os_str().to_string_lossy().into_owned());
        Some((next()?, next()?))
    });
    match parts {
        Some((machine, user)) => (Some(machine), Some(user)),
        None => (host(), user(log)),
    }
}

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

    match file.metadata() {
        Ok(metadata) => Some(name_of_user(Uid::from_raw(metadata.uid()))),
        Err(_) => this_user(),
    }
}

/// The name of the user who runs this program.
#[cfg(unix)]
pub(crate) fn this_user() -> Option<String> {
    Some(name_of_user(Uid::current()))
}

/// A user without a name is named by the environment, or has a number.
#[cfg(unix)]
fn name_of_user(id: Uid) -> String {
    let known = User::from_uid(id).ok().flatten().map(|user| user.name);
    let stated = || std::env::var("USER").ok().filter(|_| id == Uid::current());
    known.or_else(stated).unwrap_or_else(|| id.to_string())
}

#[cfg(not(unix))]
fn name_of_host() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

#[cfg(not(unix))]
fn owner(_file: &Path) -> Option<String> {
    this_user()
}

/// The name of the user who runs this program.
#[cfg(not(unix))]
pub(crate) fn this_user() -> Option<String> {
    std::env::var("USERNAME").ok()
}
