//! [`examine`]: decides whether a file is a log that can be shipped.

use std::{
    io,
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

use crate::error::Error;

/// How long a file must be unmodified before its present content decides its format.
const QUIET: Duration = Duration::from_secs(10);

/// The result of examining a file.
pub(super) enum Examined {
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
) -> Result<Examined, Error> {
    let mut file = registry.openers().open_regular(path)?;
    if file.is_rewritten() {
        let what =
            "it is a database, which changes anywhere and is not shipped; foldline ingest reads it";
        return Err(Error::Input { path: path.to_owned(), error: io::Error::other(what) });
    }
    let head = file.read_at(0, Extent::EDGE)?;
    // The first line is part of the name.
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
