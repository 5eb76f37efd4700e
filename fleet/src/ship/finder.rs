//! [`Finder`]: finds logs, and distinguishes new ones.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    io::ErrorKind,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use foldline::files::temporary_of;
use foldline_agents::Registry;
use foldline_cli::shared::{Search, find};

use super::{
    checkpoint::{Before, Logs, Shipped},
    examine::{Look, Number},
    log::ShippedLog,
};
use crate::error::report;

/// The minimum interval between two searches of the folders.
const LEAST: Duration = Duration::from_secs(2);

/// The interval as a multiple of the duration of a search.
const TIMES: u32 = 20;

/// Finds files at and below the paths.
pub(super) struct Finder<'a> {
    registry: &'a Registry,
    paths: Vec<PathBuf>,
    hidden: bool,
    /// Files of this program.
    ours: [PathBuf; 2],
    /// Failures that were reported.
    failed: BTreeSet<(PathBuf, String)>,
    /// The last search failed.
    has_failed: bool,
    next: Instant,
}

/// A file that is not being shipped yet.
pub(super) enum Discovery {
    /// A file of one of these logs, which an earlier run has shipped, or probably has.
    Stored(PathBuf, Vec<String>),
    /// A log that was shipped under another path, which no longer exists.
    Moved(PathBuf, String),
    /// A new file.
    New(PathBuf),
}

impl Discovery {
    fn path(&self) -> &Path {
        match self {
            Self::Stored(path, _) | Self::Moved(path, _) | Self::New(path) => path,
        }
    }
}

impl<'a> Finder<'a> {
    pub(super) fn new(
        registry: &'a Registry,
        paths: Vec<PathBuf>,
        hidden: bool,
        checkpoint: &Path,
    ) -> Self {
        let ours = [checkpoint.to_owned(), temporary_of(checkpoint)];
        let (failed, next) = (BTreeSet::new(), Instant::now());
        Self { registry, paths, hidden, ours, failed, has_failed: false, next }
    }

    pub(super) fn is_due(&self) -> bool {
        self.next <= Instant::now()
    }

    /// Schedules the next search after this time.
    pub(super) fn again(&mut self, soon: Duration) {
        self.next = Instant::now() + soon;
    }

    /// Whether a path could not be read in the last search.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Finds files that are not among `logs`; also returns whether some files cannot be classified yet.
    pub(super) fn find(
        &mut self,
        logs: &HashMap<usize, ShippedLog>,
        by_path: &HashMap<PathBuf, usize>,
        stored: &Logs,
    ) -> (Vec<Discovery>, bool) {
        let begun = Instant::now();
        let Search { files: paths, failed, .. } = find(self.registry, &self.paths, self.hidden);
        self.has_failed = false;
        for (path, why) in failed {
            // The file was removed during the search.
            if matches!(path.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound)
            {
                continue;
            }
            self.has_failed = true;
            if self.failed.insert((path.clone(), why.clone())) {
                report(&format!("cannot read {}: {why}", path.display()));
            }
        }
        let known = Known::new(logs, stored);
        let (mut found, mut later) = (Vec::new(), Vec::new());
        let mut resumed = HashSet::new();
        let paths = paths.into_iter().filter(|path| !self.ours.contains(path));
        for path in paths.filter(|path| !by_path.contains_key(path)) {
            let Some(look) = Look::at(&path) else { continue };
            if known.read.contains(&look.number) {
                continue;
            }
            match known.of_path(&path, look.number) {
                names if !names.is_empty() => {
                    resumed.extend(names.clone());
                    found.push(Discovery::Stored(path, names));
                }
                _ => later.push((path, look)),
            }
        }
        let begun_again: HashSet<_> = found.iter().map(|found| found.path().to_owned()).collect();
        let mut is_unclear = false;
        for (path, look) in later {
            match known.by_number.get(&look.number) {
                // A file of the log that is resumed by its own path.
                Some(name) if resumed.contains(name) => is_unclear = true,
                Some(name) => found.push(Discovery::Moved(path, name.clone())),
                None if is_part(&path, &known) => {}
                // It may be a part of a log that is about to be resumed.
                None if bases(&path).any(|base| begun_again.contains(&base)) => is_unclear = true,
                None => match Sibling::of(&path, logs, by_path) {
                    Sibling::Unclear => is_unclear = true,
                    Sibling::Part => {}
                    Sibling::Log => found.push(Discovery::New(path)),
                },
            }
        }
        self.next = Instant::now() + LEAST.max(begun.elapsed() * TIMES);
        (found, is_unclear)
    }
}

/// How a sibling with a suffix (`log.1`) relates to the log.
pub(super) enum Sibling {
    /// The log has not been read since it changed, or is being copied: the file may be a part of it.
    Unclear,
    /// A part of the log, or a copy of the data that was read from it.
    Part,
    /// A separate log.
    Log,
}

impl Sibling {
    pub(super) fn of(
        path: &Path,
        logs: &HashMap<usize, ShippedLog>,
        by_path: &HashMap<PathBuf, usize>,
    ) -> Self {
        match bases(path).find_map(|base| logs.get(by_path.get(&base)?)) {
            Some(log) if log.is_changed() || log.begins_with(path) => Self::Unclear,
            Some(log) if log.has_part(path) || log.has_copy(path) => Self::Part,
            _ => Self::Log,
        }
    }
}

/// Whether a file has the name of another one with a suffix, as rotated files have. Such a name is passed on from file
/// to file: it does not identify a log.
pub(super) fn is_rotated(path: &Path) -> bool {
    bases(path).any(|base| base.is_file())
}

/// The known files.
struct Known {
    /// Files that are being read.
    read: HashSet<Number>,
    /// Files that were read, and belong to a log that continues in another file.
    before: HashMap<Number, Vec<Before>>,
    /// Logs that are not being shipped, by path and by file.
    by_path: BTreeMap<String, Vec<(String, Number)>>,
    by_number: HashMap<Number, String>,
}

impl Known {
    fn new(logs: &HashMap<usize, ShippedLog>, stored: &Logs) -> Self {
        let active: HashSet<&str> = logs.values().map(|log| log.name.as_str()).collect();
        let mut known = Self {
            read: logs.values().filter_map(ShippedLog::file_number).collect(),
            before: HashMap::new(),
            by_path: BTreeMap::new(),
            by_number: HashMap::new(),
        };
        // Files without an inode are never treated as identical.
        known.read.remove(&(None, None));
        let befores = logs.values().map(|log| &log.before);
        let befores = befores.chain(stored.values().map(|shipped| &shipped.before));
        for before in befores.flatten().filter(|before| before.inode.is_some()) {
            let number = (before.device, before.inode);
            known.before.entry(number).or_default().push(*before);
        }
        let inactive = stored
            .iter()
            .filter(|(name, shipped)| !shipped.is_replaced && !active.contains(name.as_str()));
        for (name, Shipped { path, identity, .. }) in inactive {
            let number = (identity.device, identity.inode);
            let of_path = known.by_path.entry(path.clone()).or_default();
            of_path.push((name.clone(), number));
            if number.1.is_some() {
                known.by_number.insert(number, name.clone());
            }
        }
        known
    }

    /// The logs that were shipped from this path, the log of this file first.
    fn of_path(&self, path: &Path, number: Number) -> Vec<String> {
        let all = self.by_path.get(&*path.to_string_lossy());
        let is_rotated = is_rotated(path);
        let all = all.into_iter().flatten();
        let mut all: Vec<_> = all.filter(|(_, known)| !is_rotated || *known == number).collect();
        all.sort_by_key(|(_, known)| *known != number);
        all.into_iter().map(|(name, _)| name.clone()).collect()
    }
}

/// Whether the file was read as a part of a log that continues in another file.
fn is_part(path: &Path, known: &Known) -> bool {
    let Some(number) = Look::at(path).map(|look| look.number) else { return false };
    let Some(before) = known.before.get(&number) else { return false };
    Before::at(path).is_ok_and(|file| file.is_some_and(|file| before.contains(&file)))
}

/// The possible original names of a rotated file: `log` for `log.1`.
fn bases(path: &Path) -> impl Iterator<Item = PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let ends = name.match_indices(['.', '-']).map(|(end, _)| end).filter(|end| *end > 0);
    ends.rev().map(|end| path.with_file_name(&name[..end]))
}
