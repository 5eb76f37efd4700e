//! [`examine`]: whether a file is a log that can be shipped.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use foldline::{
    executors::Registry,
    ledger::{Extent, Identity},
    processor::DEFAULT_MAX_LINE,
    source::LogFile,
};
use foldline_cli::shared::Recognition;

use crate::error::Error;

/// How long a file must not have been written until what stands in it is taken to decide its format.
const QUIET: Duration = Duration::from_secs(10);

/// What a file turned out to be.
pub(super) enum Examined {
    /// A log, by its format; and its identity, of which nothing was read.
    Log(&'static str, Identity),
    /// Too little of it stands there.
    Undecided,
}

/// Recognises a file. `is_last` says that nothing more is waited for.
///
/// # Errors
/// It cannot be read, or is not the log of a known agent.
pub(super) fn examine(
    registry: &Registry,
    executor: &str,
    path: &Path,
    is_last: bool,
) -> Result<Examined, Error> {
    let mut file = LogFile::open_regular(path)?;
    let head = file.read_at(0, Extent::EDGE)?;
    // The first line is a part of the name.
    let is_begun = head.len() == Extent::EDGE || head.contains(&b'\n');
    if head.is_empty() || !(is_begun || is_last) {
        return Ok(Examined::Undecided);
    }
    let first_line = Some(file.first_line()?);
    let mut begin = file.status()?.unwrap_or_default();
    begin.first_line = first_line;
    let format = match registry.named(executor) {
        Some(executor) => Some(executor.format().name),
        None => recognise(registry, file, is_last || is_quiet(path))?,
    };
    Ok(format.map_or(Examined::Undecided, |format| Examined::Log(format, begin)))
}

/// The format of a log; `None` if that is not certain, and more may come.
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
