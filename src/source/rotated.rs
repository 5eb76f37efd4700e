//! The siblings of a log to which it was renamed or copied.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    LogFile,
    status::{Number, number},
};
use crate::ledger::Identity;

/// A file with the log's name and a suffix: `log.1`, `log-20260101`, `log.old`.
#[derive(Debug, PartialEq)]
pub(super) struct Rotated {
    pub(super) path: PathBuf,
    pub(super) number: Number,
    /// The text after the log's name.
    suffix: String,
}

/// The age of a rotated file relative to others that follow the same naming scheme.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Age<'s> {
    /// `log.2` is older than `log.1`.
    Count(u64),
    /// `log-20260101` is older than `log-20260102`.
    Date(std::cmp::Reverse<&'s str>),
}

impl Rotated {
    /// The age, if the name states it.
    fn age(&self) -> Option<Age<'_>> {
        let rest = self.suffix.strip_prefix(['.', '-'])?;
        let is_date = |byte: u8| byte.is_ascii_digit() || b"-_.:T".contains(&byte);
        match rest.parse() {
            Ok(count) if rest.len() < 6 => Some(Age::Count(count)),
            _ if rest.bytes().all(is_date) => Some(Age::Date(std::cmp::Reverse(rest))),
            _ => None,
        }
    }

    /// Whether both names are numbered, or both are dated with the same separator.
    fn is_named_as(&self, other: &Self) -> bool {
        let kind = |rotated: &Self| {
            let counts = matches!(rotated.age()?, Age::Count(_));
            Some((rotated.suffix.chars().next(), counts))
        };
        kind(self).is_some() && kind(self) == kind(other)
    }
}

/// The number of searches while files are being renamed.
const SEARCHES: usize = 10;

/// The rotated files of a log. A file that is renamed at this moment may be missing in a listing, so two listings in a
/// row must agree.
fn beside(log: &Path) -> io::Result<Vec<Rotated>> {
    let mut found = list(log)?;
    for _ in 0..SEARCHES {
        let again = list(log)?;
        if again == found {
            break;
        }
        found = again;
    }
    Ok(found)
}

fn list(log: &Path) -> io::Result<Vec<Rotated>> {
    let Some(name) = log.file_name().and_then(|name| name.to_str()) else { return Ok(Vec::new()) };
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.unwrap_or(Path::new(".")))? {
        let path = entry?.path();
        let suffix = path.file_name().and_then(|file| file.to_str()?.strip_prefix(name));
        let Some(suffix) = suffix.filter(|suffix| suffix.starts_with(['.', '-'])) else { continue };
        let suffix = suffix.to_owned();
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                found.push(Rotated { number: number(&metadata), suffix, path });
            }
            // Not a file, or no longer there.
            _ => {}
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// The siblings of a log that are named like earlier parts of it: `log.1`, `log-20260101`. Following or resuming the
/// log may read them.
///
/// # Errors
/// The log's folder cannot be listed.
pub fn rotated_files(log: &Path) -> io::Result<Vec<PathBuf>> {
    let rotated = beside(log)?.into_iter().filter(|rotated| rotated.age().is_some());
    Ok(rotated.map(|rotated| rotated.path).collect())
}

/// The rotated files of the log that are newer than the file with this number, oldest first; `None` if that file is
/// no longer next to the log.
pub(super) fn younger_than(log: &Path, number: Number) -> io::Result<Option<Vec<Rotated>>> {
    let mut all = beside(log)?;
    let Some(at) = all.iter().position(|rotated| rotated.number == number) else { return Ok(None) };
    let this = all.swap_remove(at);
    all.retain(|other| other.is_named_as(&this) && other.age() < this.age());
    all.sort_by(|one, other| other.age().cmp(&one.age()));
    Ok(Some(all))
}

/// The rotated file in which reading stopped, opened, with its current identity: the file with the same inode if it
/// was renamed, otherwise the only copy of the data that was read; among the files that are newer than `after`, if it
/// is next to the log.
pub(super) fn left_in(
    log: &Path,
    left: &Identity,
    after: Option<&Identity>,
) -> io::Result<Option<(LogFile, Identity)>> {
    let younger = |after: &Identity| younger_than(log, (after.device, after.inode));
    let files = || match after.map(younger).transpose()?.flatten() {
        Some(younger) => Ok(younger),
        None => beside(log),
    };
    for _ in 0..SEARCHES {
        let beside = files()?;
        let found = search(&beside, left);
        // A file that is being renamed may have been missed.
        if found.is_some() || files()? == beside {
            return Ok(found);
        }
    }
    Ok(None)
}

fn search(rotated: &[Rotated], left: &Identity) -> Option<(LogFile, Identity)> {
    let mut alike = Vec::new();
    for rotated in rotated {
        // An unreadable file cannot be resumed.
        let Ok(mut file) = LogFile::open_regular(&rotated.path) else { continue };
        match file.identity(left.read.length) {
            Ok(Some(found)) if found.is_alike(left) => alike.push((file, found)),
            _ => {}
        }
    }
    if let Some(at) = alike.iter().position(|(_, found)| found.is_same_file(left)) {
        return Some(alike.swap_remove(at));
    }
    alike.retain(|(_, found)| found.is_copy_of(left));
    if alike.len() > 1 {
        // Files that followed it may begin alike: it is the one that was left first.
        alike.retain(|(_, found)| found.modified >= left.modified);
        alike.sort_by_key(|(_, found)| std::cmp::Reverse(found.modified));
        let times: Vec<_> = alike.iter().rev().map(|(_, found)| found.modified).collect();
        if matches!(times[..], [first, second, ..] if first == second) {
            return None;
        }
    }
    alike.pop()
}

// Windows does not tell which file it is, so a rotated one is not found again.
#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the files that are newer than `name`, oldest first.
    fn younger(names: &[&str], name: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let number = number(&fs::metadata(folder.path().join(name)).unwrap());
        let younger = younger_than(&folder.path().join("log"), number).unwrap().unwrap();
        younger.into_iter().map(|rotated| rotated.suffix).collect()
    }

    #[test]
    fn names_tell_which_came_later() {
        let counted = ["log", "log.1", "log.2", "log.10", "log.old", "log.1.gz", "log-2", "log2.1"];
        assert_eq!(younger(&counted, "log.10"), [".2", ".1"]);
        assert!(younger(&counted, "log.1").is_empty());
        assert!(younger(&counted, "log.old").is_empty());
        let dated = ["log", "log-20260102", "log-20260101", "log-20260103", "log-more", "log-1"];
        assert_eq!(younger(&dated, "log-20260101"), ["-20260102", "-20260103"]);
        assert!(younger(&dated, "log-20260103").is_empty());
    }
}
