//! [`examine`]: decides whether a file is a log that can be shipped; [`log_name`]: the name of a log.

use std::{
    fs, io,
    path::Path,
    time::{Duration, SystemTime},
};

use foldline::{
    ledger::{Extent, Identity},
    processor::DEFAULT_MAX_LINE,
    source::LogFile,
};
use foldline_agents::Registry;
use foldline_cli::shared::Recognition;
use foldline_domain::Digest;

use crate::error::Error;

/// How long a file must be unmodified before its present content decides its format.
const QUIET: Duration = Duration::from_secs(10);

/// The result of examining a file.
pub(super) enum Examination {
    /// A log: its format, and its identity with a read length of 0.
    Log(&'static str, Identity),
    /// The file is too short to decide.
    Undecided,
}

/// Recognises a file. `is_last` means that no more data is awaited.
///
/// # Errors
/// The file cannot be read, or is not the log of a supported agent.
pub(super) fn examine(
    registry: &Registry,
    executor: &str,
    path: &Path,
    is_last: bool,
) -> Result<Examination, Error> {
    let mut file = registry.openers().open_regular(path)?;
    // A document is shipped as the bytes of its file.
    if file.is_document() {
        file = LogFile::open_regular(path)?;
    }
    if file.is_rewritten() {
        let what =
            "it is a database, which changes anywhere and is not shipped; foldline ingest reads it";
        return Err(Error::Input { path: path.to_owned(), error: io::Error::other(what) });
    }
    let head = file.read_at(0, Extent::EDGE)?;
    // The first line is part of the name.
    let is_begun = head.len() == Extent::EDGE || head.contains(&b'\n');
    if head.is_empty() || !(is_begun || is_last) {
        return Ok(Examination::Undecided);
    }
    let first_line = Some(file.first_line()?);
    let mut begin = file.status()?.unwrap_or_default();
    begin.first_line = first_line;
    let format = match registry.named(executor) {
        Some(executor) => Some(executor.format().name),
        None => recognise(registry, file, is_last || is_quiet(path))?,
    };
    Ok(format.map_or(Examination::Undecided, |format| Examination::Log(format, begin)))
}

/// The format of a log; `None` if it is uncertain, and more data may come.
fn recognise(
    registry: &Registry,
    mut file: LogFile,
    is_last: bool,
) -> Result<Option<&'static str>, Error> {
    let path = file.path().to_owned();
    let mut recognition = Recognition::new(registry, &path, DEFAULT_MAX_LINE);
    loop {
        let bytes = file.read_ahead()?;
        let is_end = bytes.is_empty();
        if is_end && !is_last {
            return Ok(None);
        }
        if let Some(executor) = recognition.push(bytes, is_end)? {
            return Ok(Some(executor.format().name));
        }
    }
}

fn is_quiet(path: &Path) -> bool {
    let modified = path.metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|for_| for_ >= QUIET))
}

/// The device and inode of a file.
pub(super) type Number = (Option<u64>, Option<u64>);

/// The metadata of a path: equal metadata means no change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) number: Number,
    pub(super) length: u64,
    pub(super) modified: Option<SystemTime>,
}

impl Look {
    /// Reads the metadata of a path; `None` if there is no such file.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let modified = metadata.modified().ok();
        Some(Self { number: number(&metadata), length: metadata.len(), modified })
    }
}

/// When a file was created, or else last changed, in milliseconds since 1970.
pub(super) fn created(path: &Path) -> Option<i64> {
    let metadata = fs::metadata(path).ok()?;
    let at = metadata.created().or_else(|_| metadata.modified()).ok()?;
    i64::try_from(at.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(unix)]
pub(super) fn number(metadata: &fs::Metadata) -> Number {
    use std::os::unix::fs::MetadataExt;
    (Some(metadata.dev()), Some(metadata.ino()))
}

#[cfg(not(unix))]
pub(super) fn number(_: &fs::Metadata) -> Number {
    (None, None)
}

/// The name of a log whose first file is this one, which is the key of its messages: `HOST/DEVICE-INODE-FIRSTLINE`.
///
/// The name survives renaming, and differs between machines. A reused inode results in another name, because the new
/// file has another first line.
pub(super) fn log_name(host: &str, path: &str, begin: &Identity) -> String {
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
pub(super) fn untaken_name(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&name) {
        return name;
    }
    let further = (2_u64..).map(|number| format!("{name}#{number}"));
    further.into_iter().find(|further| !is_taken(further)).unwrap_or(name)
}

/// The host name of this machine.
pub(super) fn host_name() -> Result<String, Error> {
    foldline_cli::shared::host().ok_or_else(|| {
        Error::WrongUse("this machine has no host name; specify one with --host".to_owned())
    })
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
        assert_eq!(log_name("host", "/log", &begin), format!("host/1f-abc-{}", &digest[..12]));
        assert_eq!(untaken_name("a".to_owned(), |_| false), "a");
        assert_eq!(untaken_name("a".to_owned(), |name| ["a", "a#2"].contains(&name)), "a#3");
    }
}
