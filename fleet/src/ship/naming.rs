//! The name of a log, which is the key of its messages: `HOST/DEVICE-INODE-FIRSTLINE`.
//!
//! The name survives renaming, and differs between machines. A reused inode results in another name, because the new
//! file has another first line.

use foldline::ledger::Identity;
use foldline_domain::Digest;

use crate::error::Error;

/// The name of a log whose first file is this one.
pub(super) fn name(host: &str, path: &str, begin: &Identity) -> String {
    let first_line = begin.first_line.unwrap_or_else(|| Digest::of(b"")).to_string();
    let first_line = first_line.get(..12).unwrap_or(&first_line);
    match (begin.device, begin.inode) {
        (Some(device), Some(inode)) => format!("{host}/{device:x}-{inode:x}-{first_line}"),
        // For file systems without inodes.
        _ => {
            let path = Digest::of(path.as_bytes()).to_string();
            format!("{host}/{}-{first_line}", path.get(..12).unwrap_or(&path))
        }
    }
}

/// An unused variant of a name.
pub(super) fn untaken(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&name) {
        return name;
    }
    let further = (2_u64..).map(|number| format!("{name}#{number}"));
    further.into_iter().find(|further| !is_taken(further)).unwrap_or(name)
}

/// The host name of this machine.
pub(super) fn host() -> Result<String, Error> {
    let name = node_name().filter(|name| !name.is_empty());
    name.ok_or_else(|| {
        Error::WrongUse("this machine has no host name; specify one with --host".to_owned())
    })
}

#[cfg(unix)]
fn node_name() -> Option<String> {
    Some(rustix::system::uname().nodename().to_string_lossy().into_owned())
}

#[cfg(not(unix))]
fn node_name() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_machine_and_the_file() {
        let mut begin = Identity::default();
        (begin.device, begin.inode) = (Some(0x1f), Some(0xabc));
        begin.first_line = Some(Digest::of(b"one"));
        let digest = Digest::of(b"one").to_string();
        assert_eq!(name("host", "/log", &begin), format!("host/1f-abc-{}", &digest[..12]));
        assert_eq!(untaken("a".to_owned(), |_| false), "a");
        assert_eq!(untaken("a".to_owned(), |name| ["a", "a#2"].contains(&name)), "a#3");
    }
}
